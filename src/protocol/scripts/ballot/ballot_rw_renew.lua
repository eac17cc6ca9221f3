-- Extends one server's vote for a reader or a writer, only for its owner. It never gives a vote
-- again and never changes another owner's vote (hazard 17). A writer that renews with the weight of
-- a reader and a higher proposal becomes a reader, and waiters are notified. A late renewal has a
-- lower proposal, so it undoes no upgrade (hazard 16).
--
-- KEYS  1 votes, 2 ballot
-- ARGV  1 owner token, 2 ttl in ms, 3 unused, 4 weight, 5 proposal
-- Reply {1, proposal, server time in us, ttl in ms, 0}, {0} no vote, and no other vote excludes
--       it, {0, 1} other votes exclude it, {0, 2} and {0, 3} the same with a vote of another weight

-- #include "fence.lua"
-- #include "inbox.lua"
-- #include "refusal.lua"
-- #include "votes.lua"
-- #include "ballot.lua"

local owner, ttl = ARGV[1], tonumber(ARGV[2])
local weight, proposal = tonumber(ARGV[4]), tonumber(ARGV[5])
local mine = votes[owner]
local is_lowered = mine and mine.weight > weight and mine.proposal < proposal
if IS_FOREIGN or not mine or mine.weight ~= weight and not is_lowered then
  local state = (IS_FOREIGN or excluded_by(owner, weight)) and 1 or 0
  if mine then state = state + 2 end
  return state > 0 and {0, state} or {0}
end
local ends = NOW + ttl
if is_lowered then ends = math.max(ends, mine.ends) end
keep(owner, weight, math.max(mine.proposal, proposal), ends)
redis.call('PEXPIRE', KEYS[2], 2 * AHEAD)
-- Without this right waiters get no message. They check again at the end of the lease (hazard 23).
if is_lowered then
  local channel = PREFIX .. 'mortise:free:' .. KEYS[1]
  redis.pcall('PUBLISH', channel, '')
end
return {1, proposal, NOW_US, ttl, 0}
