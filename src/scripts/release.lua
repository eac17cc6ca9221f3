-- Releases a `queued` lock: hands it to the next live waiter, or deletes it. Only its owner can.
--
-- KEYS  1 lock, 2 queue, 3 fence
-- ARGV  1 owner token, 2 present when the owner knows of waiters that the lock is not marked for
--       (it slipped in after a lease had ended, and must not make this release skip the queue)
-- Reply 1 released, 2 handed over, 0 not the owner (any more): nothing was changed (hazard 17)

local held = redis.call('GET', KEYS[1])
if held == ARGV[1] and not ARGV[2] then
  return redis.call('DEL', KEYS[1])
end
if held ~= ARGV[1] and held ~= ARGV[1] .. '*' then
  return 0
end

-- #include "fence.lua"
-- #include "handover.lua"

if hand_over(false) then
  return 2
end
redis.call('DEL', KEYS[1])
return 1
