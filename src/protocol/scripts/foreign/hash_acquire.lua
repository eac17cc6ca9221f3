-- Takes a `hash` lock, the format of Redisson's lock: a hash with the owner as its only field and
-- the hold count as its value, with a TTL. The count is always 1, because the holder counts its own
-- holds. Idempotent by owner (hazards 15, 16).
--
-- KEYS  1 lock, 2 fence
-- ARGV  1 owner, 2 ttl in ms
-- Reply {1, fencing token, server time in us, ttl in ms, 0}   owned
--       {0, 0, server time in us, rest of the present lease in ms, -1}   not owned
-- Error FOREIGN when the key is not a hash; no change.

-- #include "foreign/foreign.lua"
-- #include "refusal.lua"
-- #include "fence.lua"

local mine = redis.pcall('HEXISTS', KEYS[1], ARGV[1])
if type(mine) == 'table' then
  return refusal(mine, 'hexists') or foreign('hash')
end
if mine == 0 and redis.call('EXISTS', KEYS[1]) == 1 then
  return {0, 0, now_us(), redis.call('PTTL', KEYS[1]), -1}
end
local last = draw(1)
redis.call('HSET', KEYS[1], ARGV[1], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return {1, last, now_us(), tonumber(ARGV[2]), 0}
