-- Lifts the fence counter of a database to the server's clock. Run on every connect, before any
-- lock is taken over that connection: a restart or a failover may have brought back an old counter.
--
-- A server out of memory may carry it out as well, because holds are kept and given back by way of
-- a new connection even then (hazard 13), and a release may grant. It refuses what may need memory
-- only as a script's first write, and PEXPIRE, which comes first here, needs none.
--
-- KEYS  1 fence
-- Reply the server time in us

-- #include "fence.lua"

local now = now_us()
redis.call('PEXPIRE', KEYS[1], FENCE_LIFE)
local counter = redis.pcall('GET', KEYS[1])
counter = type(counter) == 'string' and tonumber(counter) or 0
redis.call('SET', KEYS[1], string.format('%.0f', math.max(counter, now)), 'PX', FENCE_LIFE)
-- Who may not count would draw falling tokens later, so it is told now.
redis.call('INCRBY', KEYS[1], 0)
return now
