-- Releases a `hash` lock and notifies all waiters on its channel. Only its owner can.
--
-- KEYS  1 lock, 2 fence: in a cluster the slot's own, with a tag of the slot at its end
-- ARGV  1 owner
-- Reply 1 released, 0 not (or no longer) the owner: no change (hazard 17)

-- #include "refusal.lua"

local removed = redis.pcall('HDEL', KEYS[1], ARGV[1])
if removed ~= 1 then
  return refusal(removed, 'hdel') or 0
end
if redis.call('EXISTS', KEYS[1]) == 0 then
  local tag = string.find(KEYS[1], '{', 1, true) and KEYS[1] or '{' .. KEYS[1] .. '}'
  -- The user may lack this right. A waiter without a message checks again at the end of the lease.
  redis.pcall('PUBLISH', 'redisson_lock__channel:' .. tag, '0')
  -- In a cluster later versions of Redisson subscribe to the slot's channel.
  if string.find(KEYS[2], '{%d+}$') then
    redis.pcall('SPUBLISH', 'redisson_lock__channel:' .. tag, '0')
  end
end
return 1
