-- Releases a `queued` lock whose owner expects no waiters: the common case, at the lowest cost for
-- the server. Only its owner can.
--
-- KEYS  1 lock
-- ARGV  1 owner token
-- Reply 1 released, 0 not (or no longer) the owner, 3 waiters exist, so queued_release must follow.
--       0 and 3 mean no change (hazard 17)

local held = redis.call('GET', KEYS[1])
if held == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return held == ARGV[1] .. '*' and 3 or 0
