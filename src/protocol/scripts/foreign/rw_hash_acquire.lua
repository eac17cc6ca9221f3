-- Takes a read-write lock of the `hash` format to read or to write. A reader is refused while a
-- write is in force, a writer while any hold is. Idempotent by owner token (hazards 15, 16).
--
-- KEYS  1 lock, 2 fence, 3 note
-- ARGV  1 owner token, 2 ttl in ms, 3 unused, 4 weight, 5 and 6 the lifetimes of reads and writes
--       in ms
-- Reply {1, fencing token, server time in us, ttl in ms, 0}   owned
--       {0, 0, server time in us, rest of the present lease in ms, -1}   not owned
-- Error FOREIGN when the key has a foreign value; no change.

-- #include "foreign/foreign.lua"
-- #include "refusal.lua"
-- #include "fence.lua"
-- #include "foreign/rw_hash.lua"

local wrong, problem = is_foreign()
if wrong then return problem or foreign('hash of a read-write lock') end
if not is_owner() then
  local left = refused_for()
  if left then
    return {0, 0, NOW_US, left, -1}
  end
  -- No hold is left, so the note is outdated.
  if not left_of('read', began('read')) then redis.call('DEL', KEYS[3]) end
end
local last = draw(1)
write()
return {1, last, NOW_US, TTL, 0}
