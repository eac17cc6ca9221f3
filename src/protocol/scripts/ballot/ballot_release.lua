-- Withdraws one server's vote. Only its owner can, and only if the vote has no later proposal. So a
-- release that its owner's next round overtakes changes nothing (hazard 16).
--
-- KEYS  1 lock, 2 ballot
-- ARGV  1 owner token, 2 ttl in ms (unused), 3 `tell` notifies waiters, `quiet` does not, `force`
--       in a request by another client also notifies the owner; 4 proposal
-- Reply 1 released, 0 not (or no longer) the owner: no change (hazard 17)
-- Error FOREIGN, with `force`, when the key is not a string; no change.

-- #include "foreign/foreign.lua"
-- #include "refusal.lua"

-- #include "inbox.lua"

local held = redis.pcall('GET', KEYS[1])
if held ~= ARGV[1] then
  local is_foreign = type(held) == 'table' and ARGV[3] == 'force'
  return refusal(held, 'get') or is_foreign and foreign('ballot') or 0
end
if (tonumber(redis.call('GET', KEYS[2]) or nil) or 0) > tonumber(ARGV[4]) then
  return 0
end
redis.call('DEL', KEYS[1])
-- Without this right waiters get no message. They check again at the end of the lease (hazard 23).
if ARGV[3] ~= 'quiet' then
  local channel = PREFIX .. 'mortise:free:' .. KEYS[1]
  redis.pcall('PUBLISH', channel, '')
end
if ARGV[3] == 'force' then
  notify(ARGV[1], 'R')
end
return 1
