-- Requests the vote of one server of a quorum: the lock for an owner token, with a fencing token
-- that its client proposes. A quorum of votes is the lock. Idempotent by owner token and proposal
-- (hazards 15, 16).
--
-- The proposal must be above all earlier votes of this server for this name. Any two quorums have a
-- server in common, so each grant's token is above that of every earlier grant.
--
-- KEYS  1 lock, 2 ballot (the highest proposal), 3 fence, 4 quarantine
-- ARGV  1 owner token, 2 ttl in ms, 3 `take`, or `wait` (notifies the owner of the vote, if it asks
--       for that), 4 proposal
-- Reply {1, proposal, server time in us, ttl in ms, 0}   voted
--       {0, highest proposal, server time in us, rest of the present lease in ms, -1}   not voted;
--       the rest is -2 when there is no vote and the proposal is too low; the proposal is 0
--       when another program holds the lock, whose votes look like split ones
-- Error FOREIGN when the key is not a string, QUARANTINE while the server may have forgotten votes
--       (hazard 11), CLOCK when the proposal is too far ahead of its clock; no change.

-- #include "foreign/foreign.lua"
-- #include "fence.lua"
-- #include "refusal.lua"
-- #include "ballot.lua"

local held = redis.pcall('GET', KEYS[1])
if type(held) == 'table' then
  return refusal(held, 'get') or foreign('ballot')
end
local now, proposal = now_us(), tonumber(ARGV[4])
local quarantine_ends = quarantine_end(redis.call('GET', KEYS[4]))
local problem = quarantine_error(quarantine_ends, now)
if problem then return problem end
local function read_fence() return redis.call('GET', KEYS[3]) end
local highest = highest_proposal(redis.call('GET', KEYS[2]), read_fence, quarantine_ends, now)
if held and held ~= ARGV[1] then
-- Included after the common case, which does not need it.
-- #include "inbox.lua"
  if not string.find(held, '^m1:') then highest = 0 end
  if ARGV[3] == 'wait' and gives_way(held) then notify(held, 'W') end
  return {0, highest, now, redis.call('PTTL', KEYS[1]), -1}
end
problem = clock_error(proposal, now)
if problem then return problem end
-- A vote from an old snapshot was not given for the forgotten proposals (hazard 30).
local is_given = held and highest ~= quarantine_ends
if proposal < highest or proposal == highest and not is_given then
  return {0, highest, now, -2, -1}
end
-- Never shorter: a slow server may get a renewal, which counts, before the top-up that an earlier
-- renewal has caused (hazard 17).
local ttl = tonumber(ARGV[2])
if held then ttl = math.max(ttl, redis.call('PTTL', KEYS[1])) end
redis.call('SET', KEYS[2], ARGV[4], 'PX', 2 * AHEAD)
redis.call('SET', KEYS[1], ARGV[1], 'PX', ttl)
return {1, proposal, now, ttl, 0}
