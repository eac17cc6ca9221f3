-- Shared by the steps of `queued`: the meaning of the lock's value and TTL. KEYS[1] has the owner's
-- token, marked with a `*` while others wait.

-- A marked lock stays this long beyond its lease, in ms. So a newcomer's SET NX cannot pass between
-- the end of the lease and the check by the head of the queue. During this time only the queue
-- grants the free lock.
local QUEUE_TURN = 1000

local function is_marked(held)
  return string.byte(held, -1) == 42
end

-- The rest of the lease of a lock with this value; -2 when it is over, as in PTTL.
local function lease_left(held)
  local left = redis.call('PTTL', KEYS[1])
  if held and left >= 0 and is_marked(held) then
    left = left < QUEUE_TURN and -2 or left - QUEUE_TURN
  end
  return left
end
