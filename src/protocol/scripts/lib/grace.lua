-- Shared by the steps that grant to waiters: the grace period of a queue. KEYS[3] queue. Needs
-- inbox.lua and grace_period.lua.
--
-- A waiter whose inbox has no subscriber is dead, or is reconnecting. On a server in its grace
-- period the queue waits for such waiters, all together, for one grace period. At its end the
-- waiters that are still unreachable are removed. So dead waiters delay the others once, even if
-- one flapping client keeps the server in its grace period (hazard 24).

-- The queue is kept for this long after the last sign of life of its head, in ms. A sign is a look
-- by the head itself, or a change of the head. The time that has passed is the head's silence.
local QUEUE_LIFE = 300000
-- A TTL of the queue near GRACE marks a grace period: TTL - GRACE is what is left of it. Its end
-- stays visible for OVER ms, and is ignored after that.
local GRACE, OVER = 360000, 5000
-- How many waiters are checked when it ends.
local MANY_QUEUED = 1000

-- What is left of the grace period, in ms: 0 or less after its end, nil if there is none.
local function grace_left()
  local left = redis.call('PTTL', KEYS[3]) - GRACE
  return left > -OVER and left <= CHANGED and left or nil
end

-- Records a sign of life of the head. A grace period stays, because it also covers the waiters
-- behind the head.
local function renew_queue()
  if not grace_left() then redis.call('PEXPIRE', KEYS[3], QUEUE_LIFE) end
end

-- How many ms to wait for an unreachable waiter; nil if not at all. Starts the grace period.
local function grace_for()
  local left_ms = grace_left_ms()
  if not left_ms then return nil end
  local left = grace_left()
  if left and left > 0 then return left end
  redis.call('PEXPIRE', KEYS[3], GRACE + left_ms)
  return left_ms
end

-- Removes the waiters that are still unreachable after the grace period, except `asker`, which is
-- connected. `owner_of` returns the owner token of an entry. Returns whether it removed any.
local function end_grace(asker, owner_of)
  local left = grace_left()
  if not left or left > 0 then return false end
  local is_any = false
  for _, entry in ipairs(redis.call('LRANGE', KEYS[3], 0, MANY_QUEUED - 1)) do
    if entry ~= asker and not is_heard(owner_of(entry)) then
      redis.call('LREM', KEYS[3], 1, entry)
      is_any = true
    end
  end
  redis.call('PEXPIRE', KEYS[3], QUEUE_LIFE)
  return is_any
end
