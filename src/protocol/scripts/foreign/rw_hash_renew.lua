-- Extends a hold of a read-write lock of the `hash` format, only for its owner. It never creates a
-- hold and never changes another owner's (hazard 17).
--
-- KEYS  1 lock, 2 fence (unused), 3 note
-- ARGV  1 owner token, 2 ttl in ms, 3 unused, 4 weight, 5 and 6 the lifetimes of reads and writes
--       in ms
-- Reply {1, 0, server time in us, ttl in ms, 0}, or {0} not the owner

-- #include "fence.lua"
-- #include "refusal.lua"
-- #include "foreign/rw_hash.lua"

local wrong, problem = is_foreign()
if wrong or not is_owner() then
  return problem or {0}
end
write()
return {1, 0, NOW_US, TTL, 0}
