-- Prolongs a hold of a `shared` lock, only for its owner: it never re-creates and never touches
-- another's (hazard 17), nor a lease that is over. A writer that renews with the weight of a reader
-- becomes one, and those who can read with it are let in.
--
-- KEYS  1 holders, 2 fence, 3 queue, 4 permits (a semaphore only)
-- ARGV  1 owner token, 2 ttl in ms, 3 unused, 4 weight
-- Reply {1, 0, server time in us, ttl in ms, 0}, or {0} not the owner

-- #include "fence.lua"
-- #include "inbox.lua"
-- #include "refusal.lua"
-- #include "holders.lua"
-- #include "unsettled.lua"
-- #include "admission.lua"

local owner, ttl, weight = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[4])
local entry, ends = entry_of(weight, owner), NOW + ttl
if lease_end(entry) then
  keep(entry, ends)
  return {1, 0, NOW_US, ttl, 0}
end
local whole = entry_of(WHOLE, owner)
if KIND == 'semaphore' or weight == WHOLE or not lease_end(whole) then
  return {0}
end
drop(whole)
take(entry, ends)
let_in(false, nil, WHOLE)
return {1, 0, NOW_US, ttl, 0}
