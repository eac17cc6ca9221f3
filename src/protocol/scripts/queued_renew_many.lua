-- Extends many `queued` locks, each as queued_renew does without tokens: only for its owner, never
-- creating a lock, never changing another owner's (hazard 17), never extending an expired lease.
-- Each lock has a result of its own. Managed services that restrict the text of scripts refuse this
-- one. The client then renews each lock with queued_renew.
--
-- KEYS  the locks
-- ARGV  for each lock: owner token, ttl in ms
-- Reply for each lock: 1 renewed, 2 renewed and others wait, 0 not the owner, -1 there is another
--       owner, -2 the key has a value of another type: queued_renew returns the error

-- #include "mark.lua"

local function renew(key, held, owner, ttl)
  if held == owner then
    redis.call('PEXPIRE', key, ttl)
    return 1
  end
  if not held then return redis.call('EXISTS', key) == 1 and -2 or 0 end
  if held ~= owner .. '*' then
    return string.sub(held, 1, #owner) ~= owner and -1 or 0
  end
  local left = redis.call('PTTL', key)
  if left >= 0 and left < QUEUE_TURN then return 0 end
  redis.call('PEXPIRE', key, ttl + QUEUE_TURN)
  return 2
end

-- One command reads all values, because a command costs about as much as all else that is done for
-- one lock.
local values = redis.call('MGET', unpack(KEYS))
local results = {}
for i, key in ipairs(KEYS) do
  results[i] = renew(key, values[i], ARGV[2 * i - 1], ARGV[2 * i])
end
return results
