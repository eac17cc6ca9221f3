-- Sets the value of a hold of a `shared` lock, which ends with the lease, or removes it. Only the
-- owner of a hold in force can set it (hazard 17). The key of the value has the owner token in its
-- name, so a late request never changes the value of another owner (hazard 16).
--
-- KEYS  1 holders, 2 value of the hold
-- ARGV  1 owner token, 2 weight, 3 value, empty to remove it
-- Reply 1 set or removed, 0 not (or no longer) the owner: no value was set

if ARGV[3] == '' then
  redis.call('DEL', KEYS[2])
  return 1
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- An upgrade or a downgrade without a received reply may have changed the weight of a reader or a
-- writer.
local ends
for _, weight in ipairs({ARGV[2], '1', '1073741824'}) do
  ends = ends or redis.call('ZSCORE', KEYS[1], weight .. ' ' .. ARGV[1])
end
local left = ends and tonumber(ends) - now or -1
if left < 0 then
  return 0
end
redis.call('SET', KEYS[2], ARGV[3], 'PX', math.max(left, 1))
return 1
