-- Acquires a `queued` lock, or takes a place in its queue. Idempotent by owner token: it enqueues,
-- refreshes, recovers the lock of a holder whose lease ended, repairs a lost connection and finds a
-- grant whose message was lost, all in one (hazards 15, 16, 24).
--
-- KEYS  1 lock, 2 queue, 3 fence
-- ARGV  1 owner token, 2 ttl in ms, 3 `try` (take it or leave it), `wait` (enqueue, first time),
--       `again` (enqueue unless queued already)
-- Reply {1, last token drawn, server time in us, ttl in ms, others wait}   owned
--       {0, 0, server time in us, ttl of the present owner in ms, place}   not owned; place 0 is
--       the head of the queue, -1 none
-- Error FOREIGN when the key holds something that this protocol did not write; nothing is changed.

-- #include "fence.lua"
-- #include "handover.lua"

local owner, ttl, mode = ARGV[1], ARGV[2], ARGV[3]
local held = redis.call('GET', KEYS[1])

if held == owner or held == owner .. '*' then
  local last = draw(GRANT_TOKENS)
  redis.call('PEXPIRE', KEYS[1], ttl)
  -- Who slipped in after a lease had ended owns a lock that is not marked although others wait.
  local waiting = redis.pcall('LLEN', KEYS[2])
  local others = held ~= owner or type(waiting) == 'number' and waiting > 0
  return {1, last, now_us(), tonumber(ttl), others and 1 or 0}
end
if held and string.sub(held, 1, 3) ~= 'm1:' then
  return redis.error_reply('FOREIGN the key holds a value of another program')
end
if not held and redis.call('LLEN', KEYS[2]) == 0 then
  local last = draw(GRANT_TOKENS)
  redis.call('SET', KEYS[1], owner, 'PX', ttl)
  return {1, last, now_us(), tonumber(ttl), 0}
end
if mode == 'try' then
  return {0, 0, now_us(), redis.call('PTTL', KEYS[1]), -1}
end

-- Everything below waits. The queue lives for five minutes beyond the last sign of a waiter.
local place = mode == 'again' and redis.call('LPOS', KEYS[2], owner)
if not place then
  place = redis.call('RPUSH', KEYS[2], owner) - 1
end
if place == 0 or mode == 'again' then
  redis.call('PEXPIRE', KEYS[2], 300000)
end

if not held then
  local winner, last, others = hand_over(owner, ttl)
  if winner == owner then
    return {1, last, now_us(), tonumber(ttl), others}
  end
  -- Dead waiters before this one may be gone now, so its place has to be looked up.
  place = redis.call('LPOS', KEYS[2], owner) or -1
  return {0, 0, now_us(), redis.call('PTTL', KEYS[1]), place}
end
if string.byte(held, -1) ~= 42 then
  -- The first waiter marks the lock, and tells the holder's client that its release is awaited.
  redis.call('SET', KEYS[1], held .. '*', 'KEEPTTL')
  tell(held, 'W')
end
return {0, 0, now_us(), redis.call('PTTL', KEYS[1]), place}
