-- Reports the holder and the waiters of a `queued` lock. Changes nothing.
--
-- KEYS  1 lock, 2 fence, 3 queue
-- ARGV  1 owner token of the requesting handle's hold
-- Reply {owners, rest of the longest lease in ms, newest token or nil, whether the requester is an
--       owner, number of owners, number of waiters, the first 16 waiters, permits in use, permits}

-- #include "foreign/foreign.lua"
-- #include "refusal.lua"
-- #include "mark.lua"

local held = redis.pcall('GET', KEYS[1])
if type(held) == 'table' then
  return refusal(held, 'get') or foreign('queued')
end
local left = held and lease_left(held) or -2
local owners = left ~= -2 and {held} or {}
local is_mine = held and (held == ARGV[1] or held == ARGV[1] .. '*') and 1 or 0
return {
  owners, left, redis.call('GET', KEYS[2]), is_mine, #owners,
  redis.call('LLEN', KEYS[3]), redis.call('LRANGE', KEYS[3], 0, 15), #owners, 1,
}
