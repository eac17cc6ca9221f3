-- Reports the holders and waiters of a `shared` lock. Changes nothing.
--
-- KEYS  1 holders, 2 fence, 3 queue, 4 permits (a semaphore only)
-- ARGV  1 owner token of the requesting handle's hold, 2 unused, 3 unused, 4 weight, 5 permits if
--       the server has none
-- Reply {the first 16 holders, rest of the longest lease in ms, newest token or nil, whether the
--       requester is a holder, number of holders, number of waiters, the first 16 waiters, permits
--       in use, permits}

-- #include "foreign/foreign.lua"
-- #include "fence.lua"
-- #include "inbox.lua"
-- #include "refusal.lua"
-- #include "kind.lua"
-- #include "holders.lua"

if IS_FOREIGN then return foreign(KIND) end
local in_force = redis.call('ZRANGEBYSCORE', KEYS[1], NOW, '+inf', 'LIMIT', 0, 16)
local last = redis.call('ZREVRANGEBYSCORE', KEYS[1], '+inf', NOW, 'WITHSCORES', 'LIMIT', 0, 1)
local left = last[2] and last[2] - NOW or -2
local mine = lease_end(entry_of(tonumber(ARGV[4]), ARGV[1]))
local in_use = used
for _, entry in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], 0, NOW - 1)) do
  in_use = in_use - split(entry)
end
local known = KIND == 'semaphore' and redis.call('GET', KEYS[4])
return {
  in_force, left, redis.call('GET', KEYS[2]), mine and 1 or 0,
  redis.call('ZCOUNT', KEYS[1], NOW, '+inf'), redis.call('LLEN', KEYS[3]),
  redis.call('LRANGE', KEYS[3], 0, 15), in_use, tonumber(known or ARGV[5]),
}
