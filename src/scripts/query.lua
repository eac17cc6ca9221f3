-- Tells who holds a `queued` lock and who waits. Changes nothing.
--
-- KEYS  1 lock, 2 queue, 3 fence
-- Reply {owner or nil, its ttl in ms, number of waiters, newest token or nil, the first 16 waiters}

return {
  redis.call('GET', KEYS[1]),
  redis.call('PTTL', KEYS[1]),
  redis.call('LLEN', KEYS[2]),
  redis.call('GET', KEYS[3]),
  redis.call('LRANGE', KEYS[2], 0, 15),
}
