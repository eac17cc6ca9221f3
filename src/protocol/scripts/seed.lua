-- Prepares a database for a client. Runs on every connect, before the first lock over that
-- connection. It lifts the fence counter to the server's clock and to the highest token that this
-- client has seen. A restart or a failover may have restored an old counter (hazard 30). It starts
-- a grace period when the previous client met a different server or a different run, and when this
-- client lost a connection.
--
-- It also runs on a server without memory, because even then holds are renewed and released over a
-- new connection (hazard 13), and a release may grant. Without memory a script may start only with
-- commands that need none. Here PEXPIRE is first.
--
-- KEYS  1 server, 2 fence
-- ARGV  1 `back` if this client had a connection before, or `new`; 2 the highest fencing token that
--       it has seen
-- Reply the server time in us

-- #include "fence.lua"
-- #include "refusal.lua"
-- #include "grace_period.lua"

local now = now_us()
-- A user without this right gets an error, which contains no run ID.
local info = redis.pcall('INFO', 'server')
local run = type(info) == 'string' and string.match(info, 'run_id:(%w+)')
local known, counter = redis.pcall('GET', KEYS[1]), redis.pcall('GET', KEYS[2])
-- A user without this right would make tokens fall (hazard 30).
local problem = refusal(counter, 'get')
if problem then return problem end
-- Without an earlier client there are no waiters.
local is_changed = run and type(known) == 'string' and known ~= run
local new_grace_ms = is_changed and CHANGED or ARGV[1] == 'back' and CUT_OFF or 0
local life = FENCE_LIFE + math.max(new_grace_ms, server_grace_ms() or 0)

redis.call('PEXPIRE', KEYS[2], life)
counter = type(counter) == 'string' and tonumber(counter) or 0
local lifted = math.max(counter, now, tonumber(ARGV[2]))
redis.call('SET', KEYS[2], string.format('%.0f', lifted), 'PX', life)
if run then redis.call('SET', KEYS[1], run, 'PX', FENCE_LIFE) end
-- Without the right to count, a user would later draw falling tokens. So the error is reported now.
redis.call('INCRBY', KEYS[2], 0)
return now
