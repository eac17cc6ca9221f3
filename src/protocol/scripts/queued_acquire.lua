-- Acquires a `queued` lock, or takes a place in its queue. Idempotent by owner token. One step
-- enqueues, refreshes, recovers the lock of a holder whose lease ended, repairs a lost connection,
-- and finds a grant whose message was lost (hazards 15, 16, 24).
--
-- KEYS  1 lock, 2 fence, 3 queue
-- ARGV  1 owner token, 2 ttl in ms, 3 `try` (no place in the queue), `wait` (enqueue, first time),
--       `again` (enqueue unless queued already), 4 secret, not with `try`
-- Reply {1, last token drawn, server time in us, ttl in ms, others wait}   owned
--       {0, 0, server time in us, rest of the present lease in ms, place}   not owned; place 0 is
--       the head of the queue, -1 none
-- Error FOREIGN when this protocol did not write the key's value; no change.

-- #include "foreign/foreign.lua"
-- #include "refusal.lua"
-- #include "fence.lua"
-- #include "inbox.lua"
-- #include "mark.lua"
-- #include "grace_period.lua"
-- #include "grace.lua"
-- #include "handover.lua"

local owner, ttl, mode = ARGV[1], ARGV[2], ARGV[3]
local held = redis.pcall('GET', KEYS[1])
if type(held) == 'table' or held and string.sub(held, 1, 3) ~= 'm1:' then
  return refusal(held, 'get') or foreign('queued')
end

if held == owner or held == owner .. '*' then
  local last = draw(1)
  redis.call('PEXPIRE', KEYS[1], held == owner and ttl or ttl + QUEUE_TURN)
  -- After a deletion of the key, a new owner's lock has no mark although others wait.
  local waiting = redis.pcall('LLEN', KEYS[3])
  local others = held ~= owner or type(waiting) == 'number' and waiting > 0
  return {1, last, now_us(), tonumber(ttl), others and 1 or 0}
end
local left = held and lease_left(held) or -2
if left == -2 then
  held = false
end
if not held and redis.call('LLEN', KEYS[3]) == 0 then
  local last = draw(1)
  redis.call('SET', KEYS[1], owner, 'PX', ttl)
  return {1, last, now_us(), tonumber(ttl), 0}
end
if mode == 'try' then
  return {0, 0, now_us(), left, -1}
end

-- From this line on the owner waits.
local waiter = ARGV[4] and owner .. ' ' .. ARGV[4] or owner
local place = mode == 'again' and redis.call('LPOS', KEYS[3], waiter)
if not place then
  place = redis.call('RPUSH', KEYS[3], waiter) - 1
end
if place == 0 or mode == 'again' then
  renew_queue()
end

if not held then
  local winner, last, others = hand_over(waiter, ttl)
  if winner == waiter then
    return {1, last, now_us(), tonumber(ttl), others}
  end
  -- Dead waiters before this one may have been removed, so its place is looked up. The winner's
  -- lock is marked, because this waiter is queued.
  place = redis.call('LPOS', KEYS[3], waiter) or -1
  return {0, 0, now_us(), lease_left(winner .. '*'), place}
end
if not is_marked(held) then
  -- The first waiter marks the lock and notifies the holder's client.
  redis.call('SET', KEYS[1], held .. '*', 'KEEPTTL')
  if left >= 0 then
    redis.call('PEXPIRE', KEYS[1], left + QUEUE_TURN)
  end
  notify(held, 'W')
end
return {0, 0, now_us(), left, place}
