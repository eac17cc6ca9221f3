-- Shared by the steps of `queued`: the handover to the next waiter. KEYS[1] lock, KEYS[2] fence,
-- KEYS[3] queue. Needs fence.lua, inbox.lua, mark.lua, grace_period.lua and grace.lua.

-- Removes the mark, because there are no waiters: the rest of the lease stays. Only after another
-- write, because it must not fail without memory (hazard 13).
local function unmark()
  local held = redis.call('GET', KEYS[1])
  if not held or string.sub(held, 1, 3) ~= 'm1:' or not is_marked(held) then return end
  local left = lease_left(held)
  if left == -2 then
    redis.call('DEL', KEYS[1])
  else
    redis.call('SET', KEYS[1], string.sub(held, 1, -2), 'KEEPTTL')
    if left >= 0 then
      redis.call('PEXPIRE', KEYS[1], math.max(left, 1))
    end
  end
end

-- Notifies the head of the queue of its place and of the end of the present lease, so that it
-- checks by itself then. A head without a subscriber is dead, unless the server is in its grace
-- period, and is removed. Without waiters the mark is removed.
local function notify_head(ttl)
  local head = redis.call('LINDEX', KEYS[3], 0)
  while head and notify((owner_in(head)), 'N ' .. ttl) == 0 and not server_grace_ms() do
    redis.call('LPOP', KEYS[3])
    head = redis.call('LINDEX', KEYS[3], 0)
  end
  if not head then unmark() end
end

-- Removes the head of the queue. Returns the head and whether others wait behind it. The queue is
-- read first, because during a slot migration a script cannot access a key that it has emptied
-- (hazard 29).
local function pop_head()
  local two = redis.call('LRANGE', KEYS[3], 0, 1)
  if two[1] then redis.call('LPOP', KEYS[3]) end
  return two[1], two[2] and 1 or 0
end

-- Makes the next live waiter the owner and notifies it. The state is written before the message is
-- sent. Returns that waiter, its last token and whether others wait; false without waiters.
-- `caller` (or false) is a waiter that needs no message because it reads this reply. It gets
-- `caller_ttl` at once instead of the short lease of an unconfirmed grant. On a server in its grace
-- period the next waiter gets the grant even without a subscriber, for the rest of the grace
-- period. It finds the grant with its next request (hazard 24).
local function hand_over(caller, caller_ttl)
  end_grace(caller, owner_in)
  local waiter, others = pop_head()
  if not waiter then return false end
  -- Drawn once: a dead waiter leaves its token to the next.
  local last, now = draw(1), now_us()
  while waiter do
    local owner, ttl = owner_in(waiter)
    if waiter == caller then ttl = caller_ttl end
    if others == 1 then
      redis.call('SET', KEYS[1], owner .. '*', 'PX', ttl + QUEUE_TURN)
    else
      redis.call('SET', KEYS[1], owner, 'PX', ttl)
    end
    local grant = string.format('G %.0f %.0f %d', last, now, others)
    local is_notified = waiter == caller or notify_grant(waiter, grant)
    local wait_ms = not is_notified and unreachable_wait_ms()
    if wait_ms then
      ttl = math.max(ttl, wait_ms)
      redis.call('PEXPIRE', KEYS[1], others == 1 and ttl + QUEUE_TURN or ttl)
    end
    if is_notified or wait_ms then
      if others == 1 then notify_head(ttl) end
      return waiter, last, others
    end
    if others == 0 then return false end
    waiter, others = pop_head()
  end
  return false
end
