-- Requests the vote of one server of a quorum for a reader or the writer of a read-write lock. Any
-- two quorums have a server in common. A server that has voted for a writer votes for no other
-- owner, and one that has voted for readers votes for no writer. Idempotent by owner token and
-- proposal (hazards 15, 16).
--
-- A writer needs a proposal above all proposals that this server knows, as in ballot_take.lua.
-- Readers do not exclude each other, so earlier readers are no reason to refuse one. The reply has
-- the lowest sufficient proposal. If its own proposal is lower, the client sends a sufficient one
-- to a quorum before it reports the grant. So a token is above those of all grants that were
-- reported before (tests/checks/model/readers.pml).
--
-- A waiting writer blocks later readers while it repeats its requests.
--
-- KEYS  1 votes, 2 ballot (the highest proposal), 3 waiting writer, 4 fence, 5 quarantine
-- ARGV  1 owner token, 2 ttl in ms, 3 `take`, `wait` (blocks readers, and notifies the owners of
--       votes that exclude it, if they ask for that), or `again`: a quorum has voted for it
--       already, so a waiting writer does not exclude it, 4 weight, 5 proposal
-- Reply {1, its proposal or the lowest sufficient one, server time in us, ttl in ms, 0}   voted
--       {0, a proposal, server time in us, ms until the present votes end, -1}   not voted; the
--       proposal is the holder's, 0 when a waiting writer blocks; the time is -2 when there is no
--       vote and the proposal, below the one in the reply, is too low
-- Error FOREIGN when the key has a foreign value, QUARANTINE while the server may have forgotten
--       votes (hazard 11), CLOCK when the proposal is too far ahead of its clock; no change.

-- #include "foreign/foreign.lua"
-- #include "fence.lua"
-- #include "refusal.lua"
-- #include "votes.lua"
-- #include "ballot.lua"

-- How long a writer blocks readers after its last request, in ms.
local WRITER_LIFE = 3000

local owner, ttl, mode = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local weight, proposal = tonumber(ARGV[4]), tonumber(ARGV[5])
if IS_FOREIGN then return foreign('ballot of a read-write lock') end
local quarantine_ends = quarantine_end(redis.call('GET', KEYS[5]))
local problem = quarantine_error(quarantine_ends, NOW_US)
if problem then return problem end
local mine, is_writer = votes[owner], weight == WHOLE
local waiting = redis.call('GET', KEYS[3])
local holder, left = excluded_by(owner, weight)
if holder then
  if is_writer and mode == 'wait' and (not waiting or waiting == owner) then
    redis.call('SET', KEYS[3], owner, 'PX', WRITER_LIFE)
  end
-- Included after the common case, which does not need it.
-- #include "inbox.lua"
  for other, vote in pairs(mode == 'wait' and votes or {}) do
    local is_wanted = other ~= owner and (is_writer or vote.weight == WHOLE)
    if is_wanted and gives_way(other) then notify(other, 'W') end
  end
  return {0, holder, NOW_US, left, -1}
end
if waiting and not is_writer and not mine and mode ~= 'again' then
  return {0, 0, NOW_US, redis.call('PTTL', KEYS[3]), -1}
end

problem = clock_error(proposal, NOW_US)
if problem then return problem end
local function read_fence() return redis.call('GET', KEYS[4]) end
local highest = highest_proposal(redis.call('GET', KEYS[2]), read_fence, quarantine_ends, NOW_US)
local is_same = mine and mine.proposal == proposal
-- A late request of a round that its owner has abandoned, or of before an upgrade or downgrade. An
-- upgraded hold asks again where its vote is still a reader's.
local is_late = mine and (mine.proposal > proposal or mine.weight > weight)
-- For a reader whose clocks are an hour behind, the script would store a proposal that no client
-- could exceed after a correction of this server's clock.
local is_far_behind = proposal < NOW_US - AHEAD * 1000
local is_low = (is_writer or is_far_behind) and proposal <= highest and not is_same
if is_late or is_low then
  return {0, highest, NOW_US, -2, -1}
end
for _, gone in ipairs(over) do redis.call('HDEL', KEYS[1], gone) end
redis.call('SET', KEYS[2], string.format('%.0f', math.max(highest, proposal)), 'PX', 2 * AHEAD)
if waiting == owner then redis.call('DEL', KEYS[3]) end
-- Never shorter, as in ballot_take.lua (hazard 17).
keep(owner, weight, proposal, math.max(mine and mine.ends or 0, NOW + ttl))
return {1, is_writer and proposal or math.max(proposal, highest + 1), NOW_US, ttl, 0}
