-- Continues the exported hold of a `shared` lock: replaces its owner token by that of the adopter,
-- with the same weight. So a second adoption finds another owner, and so does a late request of the
-- exporter (hazards 16 and 17). Idempotent by owner token (hazard 15). It never revives an expired
-- lease, and the queue stays.
--
-- KEYS  1 holders, 2 fence, 3 queue, 4 permits (a semaphore only)
-- ARGV  1 owner token of the adopter, 2 ttl in ms, 3 mode: keep ends no lease earlier than before,
--       so that an adoption can be undone, set gives it this ttl, unless it is repeated; 4 weight,
--       5 owner token of the exported hold
-- Reply {1, fencing token, server time in us, ttl in ms, others wait}   adopted
--       {0, 0, server time in us, ms until the next lease ends, -1}   the exported hold is over or
--       was adopted by another; no hold in force was changed
-- Error FOREIGN when the key has a foreign value; no change.

-- #include "foreign/foreign.lua"
-- #include "fence.lua"
-- #include "refusal.lua"
-- #include "kind.lua"
-- #include "holders.lua"

local ttl, weight = tonumber(ARGV[2]), tonumber(ARGV[4])
local own, exported = entry_of(weight, ARGV[1]), entry_of(weight, ARGV[5])
if IS_FOREIGN then return foreign(KIND) end
local is_adopted = lease_end(own)
if KIND == 'rw' and ARGV[3] == 'set' and not lease_end(exported) then
  -- The exporter is a reader by now. An upgrade or a downgrade without a received reply may have
  -- left it the weight of a writer.
  exported = entry_of(WHOLE, ARGV[5])
end
local present = is_adopted or lease_end(exported)
if not present then return {0, 0, NOW_US, next_end(), -1} end
local ends = NOW + ttl
if ARGV[3] == 'keep' or is_adopted then ends = math.max(ends, present) end
local last = draw(1)
if is_adopted then
  keep(own, ends)
else
  take(own, ends)
  drop(exported)
end
local waiting = redis.pcall('LLEN', KEYS[3])
return {1, last, NOW_US, ends - NOW, type(waiting) == 'number' and waiting > 0 and 1 or 0}
