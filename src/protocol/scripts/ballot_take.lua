-- Asks one server of a quorum for its vote: the lock for an owner token, with the fencing token
-- that its client proposes. A quorum of votes is the lock. Idempotent by owner token and proposal
-- (hazards 15, 16).
--
-- A vote is given for a proposal above all that this server has voted for by this name. Any two
-- quorums have a server in common, so each grant's token is above that of every earlier grant.
-- Where the server knows of no proposal, the fence counter stands for those that were forgotten: it
-- is lifted to the server's clock whenever a client connects, and after a restart to the end of the
-- quarantine.
--
-- KEYS  1 lock, 2 ballot (the highest proposal), 3 fence, 4 quarantine
-- ARGV  1 owner token, 2 ttl in ms, 3 `take` (unused), 4 proposal
-- Reply {1, proposal, server time in us, ttl in ms, 0}   voted
--       {0, highest proposal, server time in us, what is left of the present lease in ms, -1}
--       not voted; what is left is -2 where nobody has the vote and the proposal is too low
-- Error FOREIGN when the key holds no string, QUARANTINE while the server may have forgotten votes
--       (hazard 11), CLOCK when the proposal is too far ahead of its clock; nothing is changed.

-- #include "foreign.lua"
-- #include "fence.lua"
-- #include "refusal.lua"

-- Proposals are times in us. One may be so far ahead of the server's clock, and is kept twice as
-- long, in ms: what has been forgotten is then below the clock by this at least.
local AHEAD = 3600000

local held = redis.pcall('GET', KEYS[1])
if type(held) == 'table' then
  return refusal(held, 'get') or foreign('ballot')
end
local forgets = redis.call('PTTL', KEYS[4])
if forgets > 0 then
  return redis.error_reply('QUARANTINE ' .. forgets)
end
local now, proposal = now_us(), tonumber(ARGV[4])
local highest = tonumber(redis.call('GET', KEYS[2]) or nil)
if held and held ~= ARGV[1] then
  return {0, highest or 0, now, redis.call('PTTL', KEYS[1]), -1}
end
if proposal > now + AHEAD * 1000 then
  return redis.error_reply('CLOCK ' .. string.format('%.0f', now))
end
if not highest then
  local seeded = tonumber(redis.call('GET', KEYS[3]) or nil) or 0
  highest = math.max(now - AHEAD * 1000, seeded)
end
if proposal < highest or proposal == highest and not held then
  return {0, highest, now, -2, -1}
end
redis.call('SET', KEYS[2], ARGV[4], 'PX', 2 * AHEAD)
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {1, proposal, now, tonumber(ARGV[2]), 0}
