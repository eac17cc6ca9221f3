-- Releases a `token` lock, or a grant whose waiter has ended its wait. Only its owner can.
--
-- KEYS  1 lock
-- ARGV  1 owner token
-- Reply 1 released, 0 not (or no longer) the owner: no change (hazard 17)

-- #include "refusal.lua"

local held = redis.pcall('GET', KEYS[1])
if held ~= ARGV[1] then
  return refusal(held, 'get') or 0
end
return redis.call('DEL', KEYS[1])
