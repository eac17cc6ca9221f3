-- Extends one server's vote for a reader or a writer, only for its owner. It never gives a vote
-- again and never changes another owner's vote (hazard 17).
--
-- KEYS  1 votes, 2 ballot
-- ARGV  1 owner token, 2 ttl in ms, 3 unused, 4 weight, 5 proposal
-- Reply {1, proposal, server time in us, ttl in ms, 0}, {0, 1} other votes exclude it, {0} no vote
--       excludes it

-- #include "fence.lua"
-- #include "refusal.lua"
-- #include "votes.lua"
-- #include "ballot.lua"

local owner, ttl, weight, proposal = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[4]), ARGV[5]
local mine = votes[owner]
if IS_FOREIGN or not mine or mine.weight ~= weight then
  return (IS_FOREIGN or excluded_by(owner, weight)) and {0, 1} or {0}
end
keep(owner, weight, math.max(mine.proposal, tonumber(proposal)), NOW + ttl)
redis.call('PEXPIRE', KEYS[2], 2 * AHEAD)
return {1, tonumber(proposal), NOW_US, ttl, 0}
