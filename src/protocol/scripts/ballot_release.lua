-- Takes back one server's vote, only that of its owner, and only if it was not given for a later
-- proposal: a release that is overtaken by its owner's next round takes nothing (hazard 16).
--
-- KEYS  1 lock, 2 ballot
-- ARGV  1 owner token, 2 ttl in ms (unused), 3 `tell` those who wait, or be `quiet`, or `force`
--       when somebody else asks: the owner is told, too; 4 proposal
-- Reply 1 released, 0 not the owner (any more): nothing was changed (hazard 17)

-- #include "refusal.lua"

-- #include "inbox.lua"

local held = redis.pcall('GET', KEYS[1])
if held ~= ARGV[1] then
  return refusal(held, 'get') or 0
end
if (tonumber(redis.call('GET', KEYS[2]) or nil) or 0) > tonumber(ARGV[4]) then
  return 0
end
redis.call('DEL', KEYS[1])
-- Nobody hears of it without the right, and asks again when the lease would have ended (hazard 23).
if ARGV[3] ~= 'quiet' then
  local channel = 'mortise:free:' .. KEYS[1]
  redis.pcall('PUBLISH', channel, '')
end
if ARGV[3] == 'force' then
  tell(ARGV[1], 'R')
end
return 1
