-- Shared: messages to clients. A waiter is an owner token,
-- `m1:<client>:<sequence>:<label>:<grant ttl in ms>`; its client listens on one inbox channel.
-- A message is only a hint: whoever misses one finds the same by asking (hazard 24).

-- How many clients heard it. A publish that is not permitted counts as heard, because nothing may
-- fail after the first write (hazard 23) and silence is no proof of death.
local function tell(owner, message)
  local client = string.match(owner, '^m1:([^:]+):')
  if not client then return 0 end
  local heard = redis.pcall('PUBLISH', 'mortise:inbox:' .. client, message .. ' ' .. owner)
  return type(heard) == 'number' and heard or 1
end
