-- Shared by the steps of `queued`: what the lock's value and TTL say. KEYS[1] holds the owner's
-- token, marked with a `*` while others wait.

-- A marked lock stays this long beyond its lease, in ms, so that no newcomer's SET NX can slip in
-- between the end of the lease and the look that the head of the queue takes then. Within this time
-- the lock is free, but only by way of the queue.
local QUEUE_TURN = 1000

local function is_marked(held)
  return string.byte(held, -1) == 42
end

-- How much is left of the lease of a lock with this value; -2 when it is over, as PTTL says.
local function lease_left(held)
  local left = redis.call('PTTL', KEYS[1])
  if held and left >= 0 and is_marked(held) then
    left = left < QUEUE_TURN and -2 or left - QUEUE_TURN
  end
  return left
end
