-- Extends a `timestamp` or `timestamp_binary` lock by writing a later time, only while it has the
-- value that its owner wrote (hazard 17).
--
-- KEYS  1 lock, 2 fence (unused), 3 note
-- ARGV  1 owner token, 2 ttl in ms, 3 `decimal` or `binary`
-- Reply {1, 0, server time in us, ttl in ms, 0}, or {0} not the owner

-- #include "fence.lua"
-- #include "refusal.lua"
-- #include "foreign/timestamp.lua"

local owner, ttl = ARGV[1], tonumber(ARGV[2])
local value, _, problem = look()
if not is_owned_by(owner, value) then
  return problem or {0}
end
write(owner, ttl)
return {1, 0, NOW_US, ttl, 0}
