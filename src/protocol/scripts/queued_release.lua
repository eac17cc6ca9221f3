-- Releases a `queued` lock for which others wait: hands it to the next live waiter, or deletes it.
-- Only its owner can.
--
-- KEYS  1 lock, 2 fence, 3 queue
-- ARGV  1 owner token
-- Reply 1 released, 2 handed over, 0 not the owner (any more): nothing was changed (hazard 17)

local held = redis.call('GET', KEYS[1])
if held ~= ARGV[1] and held ~= ARGV[1] .. '*' then
  return 0
end

-- #include "fence.lua"
-- #include "inbox.lua"
-- #include "mark.lua"
-- #include "unsettled.lua"
-- #include "handover.lua"

if hand_over(false) then
  return 2
end
redis.call('DEL', KEYS[1])
return 1
