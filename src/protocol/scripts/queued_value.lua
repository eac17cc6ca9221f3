-- Sets the value of a hold of a `queued` lock, which ends with the lease, or removes it. Only the
-- owner of a hold in force can set it (hazard 17). The key of the value has the owner token in its
-- name, so a late request never changes the value of another owner (hazard 16).
--
-- KEYS  1 lock, 2 value of the hold
-- ARGV  1 owner token, 2 unused, 3 value, empty to remove it
-- Reply 1 set or removed, 0 not (or no longer) the owner: no value was set

-- #include "mark.lua"

if ARGV[3] == '' then
  redis.call('DEL', KEYS[2])
  return 1
end
local held = redis.call('GET', KEYS[1])
local is_owner = held == ARGV[1] or held == ARGV[1] .. '*'
local left = is_owner and lease_left(held) or -2
if left < 0 then
  return 0
end
redis.call('SET', KEYS[2], ARGV[3], 'PX', math.max(left, 1))
return 1
