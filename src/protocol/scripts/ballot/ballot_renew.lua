-- Extends one server's vote, only for its owner. It never gives a vote again and never changes
-- another owner's vote (hazard 17). The proposal may be higher than that of the vote. The owner
-- then has fencing tokens up to this proposal.
--
-- KEYS  1 lock, 2 ballot
-- ARGV  1 owner token, 2 ttl in ms, 3 proposal
-- Reply {1, proposal, server time in us, ttl in ms, 0}, {0, 1} another owner has the vote, {0} no
--       vote

-- #include "fence.lua"
-- #include "refusal.lua"
-- #include "ballot.lua"

local held = redis.pcall('GET', KEYS[1])
if held ~= ARGV[1] then
  return refusal(held, 'get') or held and {0, 1} or {0}
end
local highest = tonumber(redis.call('GET', KEYS[2]) or nil) or 0
redis.call('PEXPIRE', KEYS[1], ARGV[2])
if tonumber(ARGV[3]) > highest then
  redis.call('SET', KEYS[2], ARGV[3], 'PX', 2 * AHEAD)
else
  redis.call('PEXPIRE', KEYS[2], 2 * AHEAD)
end
return {1, tonumber(ARGV[3]), now_us(), tonumber(ARGV[2]), 0}
