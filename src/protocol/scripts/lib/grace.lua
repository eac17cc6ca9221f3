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

-- The rest of the queue's grace period in ms: 0 or less after its end, nil if there is none.
local function queue_grace_ms()
  local left_ms = redis.call('PTTL', KEYS[3]) - GRACE
  return left_ms > -OVER and left_ms <= CHANGED and left_ms or nil
end

-- Records a sign of life of the head. A grace period stays, because it also covers the waiters
-- behind the head.
local function renew_queue()
  if not queue_grace_ms() then redis.call('PEXPIRE', KEYS[3], QUEUE_LIFE) end
end

-- How many ms to wait for an unreachable waiter; nil if not at all. Starts the grace period.
local function unreachable_wait_ms()
  local server_ms = server_grace_ms()
  if not server_ms then return nil end
  local queue_ms = queue_grace_ms()
  if queue_ms and queue_ms > 0 then return queue_ms end
  redis.call('PEXPIRE', KEYS[3], GRACE + server_ms)
  return server_ms
end

-- Removes the waiters that are still unreachable after the grace period, except `asker`, which is
-- connected. `owner_of` returns the owner token of an entry. Returns whether it removed any.
local function end_grace(asker, owner_of)
  local left_ms = queue_grace_ms()
  if not left_ms or left_ms > 0 then return false end
  local is_any = false
  for _, entry in ipairs(redis.call('LRANGE', KEYS[3], 0, MANY_QUEUED - 1)) do
    if entry ~= asker and not has_subscriber(owner_of(entry)) then
      redis.call('LREM', KEYS[3], 1, entry)
      is_any = true
    end
  end
  redis.call('PEXPIRE', KEYS[3], QUEUE_LIFE)
  return is_any
end
