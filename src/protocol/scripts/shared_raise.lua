-- Turns the only reader of a read-write lock into its writer, with a new fencing token. It never
-- waits. Idempotent by owner token.
--
-- KEYS  1 holders, 2 fence, 3 queue
-- ARGV  1 owner token
-- Reply {1, fencing token} it writes, {0, 0} other readers exist, {-1, 0} not (or no longer) a
--       reader; the last two changed no hold in force (hazard 17)

-- #include "fence.lua"
-- #include "inbox.lua"
-- #include "refusal.lua"
-- #include "kind.lua"
-- #include "holders.lua"
-- #include "grace_period.lua"
-- #include "grace.lua"
-- #include "admission.lua"

local owner = ARGV[1]
local entry, whole = entry_of(1, owner), entry_of(WHOLE, owner)
sweep()
if lease_end(whole) then
  return {1, draw(1)}
end
local ends = lease_end(entry)
if not ends then
  if not IS_FOREIGN then admit_waiters(false, nil, WHOLE) end  -- the sweep may have made room
  return {-1, 0}
end
if used > 1 then
  return {0, 0}
end
-- The lease stays unchanged, because a renewal without a reply yet may have extended it.
local last = draw(1)
change(entry, whole, ends)
return {1, last}
