-- Turns one server's vote for a reader into a vote for a writer, with a new proposal. A quorum of
-- such votes is the upgrade. Any two quorums have a server in common, so no other client reads or
-- writes then. It never waits, also not for a waiting writer. Idempotent by owner token and
-- proposal (hazards 15, 16).
--
-- The proposal must be above all proposals that this server knows, as for a writer in
-- ballot_rw_take.lua (hazard 30). The vote lasts at least as long as the hold: the servers that
-- extended the hold last need not be those that raise their votes (hazard 17).
--
-- KEYS  1 votes, 2 ballot (the highest proposal), 3 waiting writer (unused), 4 fence, 5 quarantine
-- ARGV  1 owner token, 2 ttl in ms, 3 proposal
-- Reply {1, its proposal, server time in us, ttl in ms, 0}   raised
--       {0, a proposal, server time in us, ms until the other votes end, -1}   other votes exclude
--       it, and the vote stays as it was; the time is -2 when there is no other vote and the
--       proposal, not above the one in the reply, is too low
--       {-1, 0}   no vote
-- Error QUARANTINE while the server may have forgotten votes (hazard 11), CLOCK when the proposal
--       is too far ahead of its clock; no change.

-- #include "fence.lua"
-- #include "refusal.lua"
-- #include "votes.lua"
-- #include "ballot.lua"

local owner, ttl, proposal = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local mine = votes[owner]
if IS_FOREIGN or not mine then return {-1, 0} end
local quarantine_ends = quarantine_end(redis.call('GET', KEYS[5]))
local problem = quarantine_error(quarantine_ends, NOW_US) or clock_error(proposal, NOW_US)
if problem then return problem end
local holder, left = excluded_by(owner, WHOLE)
if holder then return {0, holder, NOW_US, left, -1} end
local function read_fence() return redis.call('GET', KEYS[4]) end
local highest = highest_proposal(redis.call('GET', KEYS[2]), read_fence, quarantine_ends, NOW_US)
highest = math.max(highest, mine.proposal)
local is_same = mine.weight == WHOLE and mine.proposal == proposal
if proposal <= highest and not is_same then return {0, highest, NOW_US, -2, -1} end
for _, gone in ipairs(over) do redis.call('HDEL', KEYS[1], gone) end
redis.call('SET', KEYS[2], string.format('%.0f', math.max(highest, proposal)), 'PX', 2 * AHEAD)
keep(owner, WHOLE, proposal, math.max(mine.ends, NOW + ttl))
return {1, proposal, NOW_US, ttl, 0}
