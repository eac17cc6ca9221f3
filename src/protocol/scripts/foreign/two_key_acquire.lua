-- Takes a `two_key` read-write lock to read or to write. A reader is refused while the write key
-- exists, a writer while either key exists. Idempotent by owner token (hazards 15, 16).
--
-- KEYS  1 read key, 2 fence, 3 write key, 4 note
-- ARGV  1 owner token, 2 ttl in ms, 3 unused, 4 weight
-- Reply {1, fencing token, server time in us, ttl in ms, 0}   owned
--       {0, 0, server time in us, rest of the present lease in ms, -1}   not owned
-- Error FOREIGN when one of the keys has a foreign value; no change.

-- #include "foreign/foreign.lua"
-- #include "refusal.lua"
-- #include "fence.lua"
-- #include "foreign/two_key.lua"

local wrong, problem = foreign_key()
if wrong then
  return problem or foreign('two_key', wrong, wrong == KEYS[3] and redis.call('TYPE', KEYS[3]))
end
if not is_owner() then
  local writes, reads = ends_at(write_left), ends_at(read_left)
  if writes or reads and not IS_READER then
    return {0, 0, NOW_US, (writes and write_left or read_left)(), -1}
  end
  -- No hold is left, so the note is outdated.
  if not reads then redis.call('DEL', KEYS[4]) end
end
local last = draw(1)
write()
return {1, last, NOW_US, TTL, 0}
