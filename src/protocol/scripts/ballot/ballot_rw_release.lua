-- Withdraws one server's vote for a reader or a writer. Only its owner can, and only if the vote
-- has no later proposal, as in ballot_release.lua (hazard 16).
--
-- KEYS  1 votes, 2 ballot (only its name is used), 3 waiting writer
-- ARGV  1 owner token, 2 unused, 3 `tell` notifies waiters; `leave` ends a wait; `quiet` keeps
--       readers blocked, because the owner continues to wait, and otherwise they are no longer
--       blocked; `force` in a request by another client also notifies the owner; 4 unused, 5
--       proposal
-- Reply 1 released, 0 not (or no longer) the owner: no vote was changed (hazard 17)
-- Error FOREIGN, with `force`, when the key has a foreign value; no change.

-- #include "foreign/foreign.lua"
-- #include "fence.lua"
-- #include "inbox.lua"
-- #include "refusal.lua"
-- #include "votes.lua"

local owner, mode = ARGV[1], ARGV[3]
if IS_FOREIGN and mode == 'force' then return foreign('ballot of a read-write lock') end
local mine = votes[owner]
local is_released = mine and mine.proposal <= tonumber(ARGV[5])
local was_waiting = (mode == 'tell' or mode == 'leave') and redis.call('GET', KEYS[3]) == owner
if was_waiting then redis.call('DEL', KEYS[3]) end
if is_released then
  redis.call('HDEL', KEYS[1], owner)
  votes[owner] = nil
end
-- Without this right waiters get no message. They check again at the end of the lease (hazard 23).
if was_waiting or is_released and (mode == 'tell' or mode == 'force') and not next(votes) then
  local channel = PREFIX .. 'mortise:free:' .. KEYS[1]
  redis.pcall('PUBLISH', channel, '')
end
if is_released and mode == 'force' then notify(owner, 'R') end
return is_released and 1 or 0
