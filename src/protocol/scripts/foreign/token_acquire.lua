-- Takes a `token` lock, the format of redis-py, redsync, node-redlock and most others: a string
-- with the owner token and a TTL. Idempotent by owner token (hazards 15, 16).
--
-- KEYS  1 lock, 2 fence
-- ARGV  1 owner token, 2 ttl in ms
-- Reply {1, fencing token, server time in us, ttl in ms, 0}   owned
--       {0, 0, server time in us, rest of the present lease in ms, -1}   not owned
-- Error FOREIGN when the key is not a string; no change.

-- #include "foreign/foreign.lua"
-- #include "refusal.lua"
-- #include "fence.lua"

local held = redis.pcall('GET', KEYS[1])
if type(held) == 'table' then
  return refusal(held, 'get') or foreign('token')
end
if held and held ~= ARGV[1] then
  return {0, 0, now_us(), redis.call('PTTL', KEYS[1]), -1}
end
local last = draw(1)
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {1, last, now_us(), tonumber(ARGV[2]), 0}
