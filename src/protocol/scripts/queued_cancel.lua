-- Ends a wait for a `queued` lock, and releases a grant made meanwhile. Idempotent.
--
-- KEYS  1 lock, 2 fence, 3 queue
-- ARGV  1 owner token, 2 secret, unless it was never queued
-- Reply 0 it was neither queued nor owner, 1 it was queued, 2 it was the owner

-- #include "fence.lua"
-- #include "inbox.lua"
-- #include "mark.lua"
-- #include "grace_period.lua"
-- #include "grace.lua"
-- #include "handover.lua"

local owner = ARGV[1]
local held = redis.call('GET', KEYS[1])
if held == owner or held == owner .. '*' then
  if not hand_over(false) then
    redis.call('DEL', KEYS[1])
  end
  return 2
end
local waiter = ARGV[2] and owner .. ' ' .. ARGV[2] or owner
local was_head = redis.call('LINDEX', KEYS[3], 0) == waiter
local removed = redis.call('LREM', KEYS[3], 1, waiter)
if was_head then
  notify_head(lease_left(held))
end
return removed
