-- Extends a hold of a `shared` lock during the migration of its slot. No script then has access to
-- all keys of the lock (hazard 29). As shared_renew, but with one key. It never creates a hold,
-- never changes another owner's (hazard 17), and never extends an expired lease.
--
-- KEYS  1 holders
-- ARGV  1 owner token, 2 ttl in ms, 3 unused, 4 weight
-- Reply {1, 0, server time in us, ttl in ms, 0}, or {0} not the owner
-- Error TRYAGAIN when the hold has another weight: a lower weight may admit waiters

-- #include "refusal.lua"

local WHOLE = 1073741824
local time, ttl = redis.call('TIME'), tonumber(ARGV[2])
local now_us = time[1] * 1000000 + time[2]
local now = math.floor(now_us / 1000)
local function lease_end(weight)
  return redis.pcall('ZSCORE', KEYS[1], weight .. ' ' .. ARGV[1])
end

local ends = lease_end(ARGV[4])
if type(ends) == 'table' then
  return refusal(ends, 'zscore') or {0}
end
if not ends and lease_end(string.format('%.0f', WHOLE)) then
  return redis.error_reply('TRYAGAIN the slot is being moved')
end
if not ends or tonumber(ends) < now then
  return {0}
end
-- Starts with a command that needs no memory (hazard 13).
local left = redis.call('PTTL', KEYS[1])
redis.call('PEXPIRE', KEYS[1], math.max(ttl, left))
redis.call('ZADD', KEYS[1], now + ttl, ARGV[4] .. ' ' .. ARGV[1])
return {1, 0, now_us, ttl, 0}
