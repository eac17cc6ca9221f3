-- Shared: messages to clients. An owner token is `m1:<client>:<sequence>:<label>:<grant ttl in
-- ms>`. A waiter is `<owner token> <secret>`, and waits in the queue. The secret appears only there
-- and in the grant, so that no publisher can forge a grant (hazard 32). A waiter's client
-- subscribes to one inbox channel, in a cluster to one for each slot, where only the slot's server
-- can publish. A message is only a hint: a client that misses one finds the same state with its
-- next request (hazard 24).
-- KEYS[2] fence: in a cluster the slot's own, with a tag of the slot at its end. At a server of a
-- quorum it is the ballot. In a namespace it begins with the namespace and a colon, and so do the
-- channels.

local TAG = string.match(KEYS[2], '{%d+}$')
local PREFIX = string.match(KEYS[2], '^([^:{]+:){?mortise:') or ''

local function inbox(owner)
  local client = string.match(owner, '^m1:([^:]+):')
  return client and PREFIX .. 'mortise:inbox:' .. client .. (TAG or '')
end

-- The owner token of a waiter, and the ttl of a grant to it.
local function owner_in(waiter)
  local owner, ttl = string.match(waiter, '^(.*:(%d+))')
  return owner or waiter, ttl or 1
end

-- Whether its client gets a message about waiters: it may retain an unused claim, let more readers
-- share the claim, or report the waiters to its user.
local function gives_way(owner)
  return string.find(owner, '^m1:[^:]+:%d+%.%d+[rs]:')
end

-- How many clients received it. A rejected publish counts as received, because a step must not fail
-- after its first write (hazard 23), and silence does not prove death.
local function notify(owner, message)
  local channel = inbox(owner)
  if not channel then return 0 end
  local text, receivers = message .. ' ' .. owner, nil
  if TAG then
    receivers = redis.pcall('SPUBLISH', channel, text)
  else
    receivers = redis.pcall('PUBLISH', channel, text)
  end
  return type(receivers) == 'number' and receivers or 1
end

-- Whether a message would be received, without work for the client. A rejected check counts as
-- received, too.
local function has_subscriber(owner)
  local channel = inbox(owner)
  return channel and redis.pcall('PUBSUB', TAG and 'SHARDNUMSUB' or 'NUMSUB', channel)[2] ~= 0
end

-- Notifies of a grant, and returns whether it was received at this server. Without a subscriber no
-- message is sent. Replicas forward messages: a client that is still subscribed to a demoted server
-- would take the grant of another owner as its own (hazard 10).
local function notify_grant(waiter, grant)
  return has_subscriber(waiter) and notify(waiter, grant) > 0
end
