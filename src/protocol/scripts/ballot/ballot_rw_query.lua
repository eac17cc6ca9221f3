-- Reports the owners of this server's votes for a read-write lock. Changes nothing.
--
-- KEYS  1 votes, 2 ballot
-- ARGV  1 owner token of the requesting handle's hold
-- Reply {the first 16 owners of votes, rest of the longest lease in ms, newest token or nil,
--       whether the requester has a vote, number of owners, 0, {}, number of owners, weight of all}

-- #include "foreign/foreign.lua"
-- #include "fence.lua"
-- #include "refusal.lua"
-- #include "votes.lua"

if IS_FOREIGN then return foreign('ballot of a read-write lock') end
local holders = {}
for owner, vote in pairs(votes) do
  holders[#holders + 1] = string.format('%.0f %s', vote.weight, owner)
end
table.sort(holders)
local count = #holders
for i = count, 17, -1 do holders[i] = nil end
return {
  holders, count > 0 and last_end - NOW or -2, redis.call('GET', KEYS[2]),
  votes[ARGV[1]] and 1 or 0, count, 0, {}, count, WHOLE,
}
