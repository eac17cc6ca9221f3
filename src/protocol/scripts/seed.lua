-- Prepares a database for a client. Run on every connect, before any lock is taken over that
-- connection. It lifts the fence counter to the server's clock and to what this client has seen, as
-- a restart or a failover may have brought back an old one (hazard 30). It notes when the server is
-- in its grace period: when the last client before this one has met another server here, or another
-- run of it, and when this one has lost a connection.
--
-- A server out of memory may carry it out as well, because holds are kept and given back by way of
-- a new connection even then (hazard 13), and a release may grant. It refuses what may need memory
-- only as a script's first write, and PEXPIRE, which comes first here, needs none.
--
-- KEYS  1 server, 2 fence
-- ARGV  1 `back` when this client had a connection before, or `new`; 2 the highest fencing token
--       that it has seen
-- Reply the server time in us

-- #include "fence.lua"
-- #include "refusal.lua"
-- #include "grace_period.lua"

local now = now_us()
-- A user who may not ask is told an error, which names no run.
local info = redis.pcall('INFO', 'server')
local run = type(info) == 'string' and string.match(info, 'run_id:(%w+)')
local known, counter = redis.pcall('GET', KEYS[1]), redis.pcall('GET', KEYS[2])
-- Who may not look would let tokens fall (hazard 30).
local problem = refusal(counter, 'get')
if problem then return problem end
-- Where no client has been before nobody can wait.
local is_changed = run and type(known) == 'string' and known ~= run
local for_now = is_changed and CHANGED or ARGV[1] == 'back' and CUT_OFF or 0
local life = FENCE_LIFE + math.max(for_now, grace_left_ms() or 0)

redis.call('PEXPIRE', KEYS[2], life)
counter = type(counter) == 'string' and tonumber(counter) or 0
local lifted = math.max(counter, now, tonumber(ARGV[2]))
redis.call('SET', KEYS[2], string.format('%.0f', lifted), 'PX', life)
if run then redis.call('SET', KEYS[1], run, 'PX', FENCE_LIFE) end
-- Who may not count would draw falling tokens later, so it is told now.
redis.call('INCRBY', KEYS[2], 0)
return now
