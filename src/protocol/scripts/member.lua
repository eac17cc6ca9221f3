-- Prepares a server of a quorum for a client, before that asks it for a vote over this connection.
-- What a quorum cannot do without is looked at here, and refused by name.
--
-- A server that has restarted may have forgotten votes. So it is in quarantine until the longest
-- lease that it could have forgotten is over: until it has run for that long (hazard 11). That end
-- is noted, and stands for the proposals that it may have forgotten: those were made by clocks that
-- were not ahead of this one by more. It is kept for longer than any ballot of before the restart,
-- which a snapshot may have brought back (hazard 30).
--
-- Run again and again, too, so that the servers know what the clients agree on for as long as any
-- client lives.
--
-- KEYS  1 quarantine, 2 what the clients agree on, 3 this client's membership
-- ARGV  1 how long the longest lease may be at a server, in ms, or 0 where it forgets nothing;
--       2 how many servers there are, 3 which of them the client takes this for
-- Reply for how long it is in quarantine, in ms; 0 when it is not
-- Error QUORUM with the reason

-- #include "fence.lua"
-- #include "refusal.lua"
-- #include "ballot.lua"

-- In ms. The membership outlives the pauses between the attempts to connect as another; what
-- uptime_in_seconds says can be a second too much.
local LIFE, SECOND = 3600000, 1000

local info = redis.call('INFO', 'server')
local taken, agreed = redis.pcall('GET', KEYS[3]), redis.pcall('GET', KEYS[2])
local problem = refusal(taken, 'get')
if problem then return problem end
-- Two connections of one client, each for another server, have come here.
if taken and taken ~= ARGV[3] then
  redis.call('PEXPIRE', KEYS[3], LIFE)
  return redis.error_reply('QUORUM this is the same server as number ' .. taken .. ' of the list')
end
-- Two clients that count differently could both have a quorum (hazard 25).
local count, quarantine = string.match(agreed or '', '^(%d+) (%d+)$')
if count and count ~= ARGV[2] then
  return redis.error_reply('QUORUM other clients have ' .. count .. ' servers in their lists, ' ..
    'this one has ' .. ARGV[2] .. '; give the same list everywhere')
end
-- The shorter one ends while a lease of the other client's may last, and the longer one keeps the
-- server from voting for everybody (hazard 11).
if quarantine and quarantine ~= ARGV[1] then
  return redis.error_reply('QUORUM other clients have the option quarantine=' .. quarantine ..
    'ms, this one has quarantine=' .. ARGV[1] .. 'ms; give the same value everywhere')
end

redis.call('SET', KEYS[3], ARGV[3], 'PX', LIFE)
redis.call('SET', KEYS[2], ARGV[2] .. ' ' .. ARGV[1], 'PX', LIFE)
local up = tonumber(string.match(info, 'uptime_in_seconds:(%d+)')) or 0
local now, ends = now_us(), quarantine_end(redis.call('GET', KEYS[1]))
local left = ARGV[1] + SECOND - up * 1000
-- Also where the quarantine is over already, as no client may have connected meanwhile.
if ARGV[1] ~= '0' and left > -2 * AHEAD and now + left * 1000 > ends then
  ends = now + left * 1000
  redis.call('SET', KEYS[1], string.format('%.0f', ends), 'PX', left + 2 * AHEAD)
end
return math.ceil(math.max(ends - now, 0) / 1000)
