-- Shared: messages to clients. A waiter is an owner token,
-- `m1:<client>:<sequence>:<label>:<grant ttl in ms>`; its client listens on one inbox channel, in a
-- cluster on one for each slot, which only the server that has the slot can say something on.
-- A message is only a hint: whoever misses one finds the same by asking (hazard 24).
-- KEYS[2] fence: in a cluster the slot's own, with a tag of the slot at its end.

local TAG = string.match(KEYS[2], '{%d+}$')

local function inbox(owner)
  local client = string.match(owner, '^m1:([^:]+):')
  return client and 'mortise:inbox:' .. client .. (TAG or '')
end

-- Whether its client gives way when somebody waits, and so is to hear of it: it may retain the
-- claim while nobody holds by it, or let more readers share it.
local function gives_way(owner)
  return string.find(owner, '^m1:[^:]+:%d+%.%d+[rs]:')
end

-- How many clients heard it. A publish that is not permitted counts as heard, because nothing may
-- fail after the first write (hazard 23) and silence is no proof of death.
local function tell(owner, message)
  local channel = inbox(owner)
  if not channel then return 0 end
  local text, heard = message .. ' ' .. owner, nil
  if TAG then
    heard = redis.pcall('SPUBLISH', channel, text)
  else
    heard = redis.pcall('PUBLISH', channel, text)
  end
  return type(heard) == 'number' and heard or 1
end

-- Whether a message would be heard, which costs its client nothing. Not permitted counts as heard,
-- too.
local function is_heard(owner)
  local channel = inbox(owner)
  return channel and redis.pcall('PUBSUB', TAG and 'SHARDNUMSUB' or 'NUMSUB', channel)[2] ~= 0
end

-- Tells of a grant, and says whether it was heard here. Where it would not be, nothing is said:
-- replicas pass on what is said, and whoever still listens to one, a server that was demoted, would
-- take for its own what the next is given (hazard 10).
local function tell_grant(owner, grant)
  return is_heard(owner) and tell(owner, grant) > 0
end
