-- Extends a `hash` lock, only for its owner. It never creates a lock and never changes another
-- owner's (hazard 17).
--
-- KEYS  1 lock, 2 fence (unused)
-- ARGV  1 owner, 2 ttl in ms
-- Reply {1, 0, server time in us, ttl in ms, 0}, or {0} not the owner

-- #include "fence.lua"
-- #include "refusal.lua"

local mine = redis.pcall('HEXISTS', KEYS[1], ARGV[1])
if mine ~= 1 then
  return refusal(mine, 'hexists') or {0}
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return {1, 0, now_us(), tonumber(ARGV[2]), 0}
