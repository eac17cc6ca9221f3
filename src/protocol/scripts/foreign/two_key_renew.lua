-- Extends a hold of a `two_key` read-write lock, only for its owner. It never creates a hold and
-- never changes another owner's (hazard 17).
--
-- KEYS  1 read key, 2 fence (unused), 3 write key, 4 note
-- ARGV  1 owner token, 2 ttl in ms, 3 unused, 4 weight
-- Reply {1, 0, server time in us, ttl in ms, 0}, or {0} not the owner

-- #include "fence.lua"
-- #include "refusal.lua"
-- #include "foreign/two_key.lua"

local wrong, problem = foreign_key()
if wrong or not is_owner() then
  return problem or {0}
end
write()
return {1, 0, NOW_US, TTL, 0}
