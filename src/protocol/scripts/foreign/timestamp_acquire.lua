-- Takes a `timestamp` or `timestamp_binary` lock that is free, or over by the server's clock. An
-- unsuccessful request changes nothing. Idempotent by owner token (hazards 15, 16).
--
-- KEYS  1 lock, 2 fence, 3 note
-- ARGV  1 owner token, 2 ttl in ms, 3 `decimal` or `binary`
-- Reply {1, fencing token, server time in us, ttl in ms, 0}   owned
--       {0, 0, server time in us, rest of the present lease in ms, -1}   not owned
-- Error FOREIGN when the key has no such time; no change.

-- #include "foreign/foreign.lua"
-- #include "refusal.lua"
-- #include "fence.lua"
-- #include "foreign/timestamp.lua"

local owner, ttl = ARGV[1], tonumber(ARGV[2])
local value, left, problem = look()
if value == nil then
  return problem or foreign('timestamp, ' .. FORM .. ',')
end
if left ~= -2 and not is_owned_by(owner, value) then
  return {0, 0, NOW_US, left, -1}
end
local last = draw(1)
write(owner, ttl)
return {1, last, NOW_US, ttl, 0}
