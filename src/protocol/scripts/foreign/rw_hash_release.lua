-- Releases a hold of a read-write lock of the `hash` format: deletes its field if the field has the
-- value that this hold wrote. A reader restores the value of another reader whose hold is in force.
--
-- KEYS  1 lock, 2 fence (unused), 3 note
-- ARGV  1 owner token, 2 unused, 3 unused, 4 weight, 5 and 6 the lifetimes of reads and writes in
--       ms
-- Reply 1 released, 0 not (or no longer) the owner: the lock was not changed (hazard 17)

-- #include "fence.lua"
-- #include "refusal.lua"
-- #include "foreign/rw_hash.lua"

local wrong, problem = is_foreign()
if wrong or not is_owner() then
  return problem or 0
end
local is_last_word = noted(ENTRY) == began(FIELD)
redis.call('ZREM', KEYS[3], ENTRY)
if is_last_word then
  local other = redis.call('ZREVRANGE', KEYS[3], 0, 0, 'WITHSCORES')[2]
  if IS_READER and left_of(FIELD, tonumber(other)) then
    redis.call('HSET', KEYS[1], FIELD, other)
  else
    redis.call('HDEL', KEYS[1], FIELD)
  end
end
return 1
