-- Releases a `timestamp` or `timestamp_binary` lock, only while it has the value that its owner
-- wrote.
--
-- KEYS  1 lock, 2 fence (unused), 3 note
-- ARGV  1 owner token
-- Reply 1 released, 0 not (or no longer) the owner: no change (hazard 17)

-- #include "refusal.lua"

local value = redis.pcall('GET', KEYS[1])
if type(value) ~= 'string' or redis.call('GET', KEYS[3]) ~= ARGV[1] .. ' ' .. value then
  return refusal(value, 'get') or 0
end
redis.call('DEL', KEYS[1], KEYS[3])
return 1
