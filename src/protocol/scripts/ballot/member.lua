-- Prepares a server of a quorum for a client, before its first request for a vote over this
-- connection. It checks the requirements of a quorum and reports each failure by name.
--
-- A restarted server may have forgotten votes. So it is in quarantine until the longest forgotten
-- lease is over: until it has run for that long (hazard 11). The noted end of the quarantine stands
-- for the forgotten proposals: their clocks were not further ahead of this one. It is kept for
-- longer than any ballot of before the restart, which a snapshot may restore (hazard 30).
--
-- It also runs on a server without memory, because even then votes are renewed and released over a
-- new connection (hazard 13). Without memory a script may start only with commands that need none.
-- Here PEXPIRE is first.
--
-- Also runs periodically, so that the servers know the agreement of the clients while any client
-- lives.
--
-- KEYS  1 quarantine, 2 the agreement of the clients, 3 this client's membership
-- ARGV  1 the longest possible lease at a server, in ms, or 0 when it forgets nothing; 2 the number
--       of servers, 3 the number of this server at the client
-- Reply the rest of its quarantine, in ms; 0 without quarantine
-- Error QUORUM with the reason

-- #include "fence.lua"
-- #include "refusal.lua"
-- #include "ballot.lua"

-- In ms. The membership outlives the pauses between connection attempts under another number.
-- uptime_in_seconds may be one second too high.
local LIFE, SECOND = 3600000, 1000

local info = redis.call('INFO', 'server')
local taken, agreed = redis.pcall('GET', KEYS[3]), redis.pcall('GET', KEYS[2])
local problem = refusal(taken, 'get')
if problem then return problem end
-- One client has two connections to this server, under different numbers.
if taken and taken ~= ARGV[3] then
  redis.call('PEXPIRE', KEYS[3], LIFE)
  return redis.error_reply('QUORUM this is the same server as number ' .. taken .. ' of the list')
end
-- Two clients with different counts could both have a quorum (hazard 25).
local count, quarantine = string.match(agreed or '', '^(%d+) (%d+)$')
if count and count ~= ARGV[2] then
  return redis.error_reply('QUORUM other clients have ' .. count .. ' servers in their lists, ' ..
    'this one has ' .. ARGV[2] .. '; give the same list everywhere')
end
-- The shorter quarantine ends while a lease of the other client may last. The longer one keeps the
-- server from voting for all clients (hazard 11).
if quarantine and quarantine ~= ARGV[1] then
  return redis.error_reply('QUORUM other clients have the option quarantine=' .. quarantine ..
    'ms, this one has quarantine=' .. ARGV[1] .. 'ms; give the same value everywhere')
end

redis.call('PEXPIRE', KEYS[3], LIFE)
redis.call('SET', KEYS[3], ARGV[3], 'PX', LIFE)
redis.call('SET', KEYS[2], ARGV[2] .. ' ' .. ARGV[1], 'PX', LIFE)
local up = tonumber(string.match(info, 'uptime_in_seconds:(%d+)')) or 0
local now, ends = now_us(), quarantine_end(redis.call('GET', KEYS[1]))
local left = ARGV[1] + SECOND - up * 1000
-- Also when the quarantine is over already, because no client may have connected meanwhile.
if ARGV[1] ~= '0' and left > -2 * AHEAD and now + left * 1000 > ends then
  ends = now + left * 1000
  redis.call('SET', KEYS[1], string.format('%.0f', ends), 'PX', left + 2 * AHEAD)
end
return math.ceil(math.max(ends - now, 0) / 1000)
