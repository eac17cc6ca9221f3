-- Makes the only reader of a read-write lock its writer, with a new fencing token; it never waits.
-- Idempotent by owner token.
--
-- KEYS  1 holders, 2 fence, 3 queue
-- ARGV  1 owner token, 2 ttl in ms
-- Reply {1, fencing token} it writes, {0, 0} others read too, {-1, 0} it does not read (any more);
--       nothing was changed by the last two (hazard 17)

-- #include "fence.lua"
-- #include "inbox.lua"
-- #include "holders.lua"

local owner, ends = ARGV[1], NOW + ARGV[2]
local entry, whole = entry_of(1, owner), entry_of(WHOLE, owner)
sweep()
if lease_end(whole) then
  return {1, draw(1)}
end
if not lease_end(entry) then
  return {-1, 0}
end
if in_use() > 1 then
  return {0, 0}
end
local last = draw(1)
drop(entry)
take(whole, ends)
return {1, last}
