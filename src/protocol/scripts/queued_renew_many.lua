-- Extends many `queued` locks, each as queued_renew does without tokens: only for its owner, never
-- creating a lock, never changing another owner's (hazard 17), never extending an expired lease.
-- Each lock has a result of its own. Managed services that restrict the text of scripts refuse this
-- one. The client then renews each lock with queued_renew.
--
-- KEYS  the locks
-- ARGV  for each lock: owner token, ttl in ms
-- Reply for each lock: 1 renewed, 2 renewed and others wait, 0 not the owner, -1 there is another
--       owner, -2 the lock could not be read: queued_renew returns the error

-- #include "mark.lua"

local function renew(key, owner, ttl)
  local held = redis.pcall('GET', key)
  if held == owner then
    redis.call('PEXPIRE', key, ttl)
    return 1
  end
  if type(held) == 'table' then return -2 end
  if held ~= owner .. '*' then
    return held and string.sub(held, 1, #owner) ~= owner and -1 or 0
  end
  local left = redis.call('PTTL', key)
  if left >= 0 and left < QUEUE_TURN then return 0 end
  redis.call('PEXPIRE', key, ttl + QUEUE_TURN)
  return 2
end

local results = {}
for i, key in ipairs(KEYS) do
  results[i] = renew(key, ARGV[2 * i - 1], ARGV[2 * i])
end
return results
