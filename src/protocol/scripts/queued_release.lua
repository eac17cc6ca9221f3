-- Releases a `queued` lock with waiters: grants it to the next live waiter, or deletes it. Only its
-- owner can.
--
-- KEYS  1 lock, 2 fence, 3 queue
-- ARGV  1 owner token, 2 unused, 3 `force` in a request by another client: notifies the owner,
--       last, so that the new owner is notified first; otherwise empty
-- Reply 1 released, 2 handed over, 0 not (or no longer) the owner: no change (hazard 17)

local held = redis.call('GET', KEYS[1])
if held ~= ARGV[1] and held ~= ARGV[1] .. '*' then
  return 0
end

-- #include "fence.lua"
-- #include "inbox.lua"
-- #include "mark.lua"
-- #include "grace_period.lua"
-- #include "grace.lua"
-- #include "handover.lua"

local is_handed_over = hand_over(false)
if not is_handed_over then
  redis.call('DEL', KEYS[1])
end
if ARGV[3] == 'force' then
  notify(ARGV[1], 'R')
end
return is_handed_over and 2 or 1
