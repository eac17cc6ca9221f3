-- Releases a `queued` lock of which its owner believes that nobody waits for it: the common case,
-- at the least cost for the server. Only its owner can.
--
-- KEYS  1 lock
-- ARGV  1 owner token
-- Reply 1 released, 0 not the owner (any more), 3 somebody waits, so queued_release has to be
--       asked. Nothing was changed by 0 and 3 (hazard 17)

local held = redis.call('GET', KEYS[1])
if held == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return held == ARGV[1] .. '*' and 3 or 0
