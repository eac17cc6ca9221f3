-- Releases a hold of a `two_key` read-write lock. Mortise's last reader deletes the read key, but
-- only if no other program has written the key since. Otherwise its TTL ends it.
--
-- KEYS  1 read key, 2 fence (unused), 3 write key, 4 note
-- ARGV  1 owner token, 2 unused, 3 unused, 4 weight
-- Reply 1 released, 0 not (or no longer) the owner: neither key was changed (hazard 17)

-- #include "fence.lua"
-- #include "refusal.lua"
-- #include "foreign/two_key.lua"

local wrong, problem = foreign_key()
if wrong or not is_owner() then
  return problem or 0
end
if not IS_READER then
  redis.call('DEL', KEYS[3], KEYS[4])
  return 1
end
note_theirs()
local is_ours = is_same(ends_at(read_left), noted('written'))
redis.call('ZREM', KEYS[4], ENTRY, 'written')
local last = tonumber(redis.call('ZREVRANGE', KEYS[4], 0, 0, 'WITHSCORES')[2] or 0)
if is_ours and last <= NOW then
  redis.call('DEL', KEYS[1], KEYS[4])
elseif is_ours then
  -- Holds of other programs end by themselves.
  redis.call('PEXPIREAT', KEYS[1], last)
  note('written', last)
end
return 1
