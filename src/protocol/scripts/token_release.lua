-- Releases a `token` lock, or gives back one that nobody waits for any more. Only its owner can.
--
-- KEYS  1 lock
-- ARGV  1 owner token
-- Reply 1 released, 0 not the owner (any more): nothing was changed (hazard 17)

-- #include "refusal.lua"

local held = redis.pcall('GET', KEYS[1])
if held ~= ARGV[1] then
  return refusal(held, 'get') or 0
end
return redis.call('DEL', KEYS[1])
