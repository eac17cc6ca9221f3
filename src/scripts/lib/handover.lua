-- Shared: messages to clients and the handover to the next waiter.
-- KEYS[1] lock, KEYS[2] queue, KEYS[3] fence. A waiter is an owner token,
-- `m1:<client>:<sequence>:<label>:<grant ttl in ms>`; its client listens on one inbox channel.
-- A message is only a hint: whoever misses one finds the same by asking (hazard 24).

-- Each grant draws this many tokens, one for the grantee and the rest for the waiters of the same
-- client to whom it may pass the lock on.
local GRANT_TOKENS = 17

-- How many clients heard it. A publish that is not permitted counts as heard, because nothing may
-- fail after the first write (hazard 23) and silence is no proof of death.
local function tell(owner, message)
  local client = string.match(owner, '^m1:([^:]+):')
  if not client then return 0 end
  local heard = redis.pcall('PUBLISH', 'mortise:inbox:' .. client, message .. ' ' .. owner)
  return type(heard) == 'number' and heard or 1
end

-- Tells the head of the queue that it is the head and when the present lease ends, so that it looks
-- by itself then. Heads that nobody hears for are dead and are dropped here.
local function tell_head(ttl)
  local head = redis.call('LINDEX', KEYS[2], 0)
  while head and tell(head, 'N ' .. ttl) == 0 do
    redis.call('LPOP', KEYS[2])
    head = redis.call('LINDEX', KEYS[2], 0)
  end
end

-- Makes the next live waiter the owner and tells it. The state is written before the message goes
-- out. Returns the new owner, its last token and whether others wait; false when nobody is left.
-- `caller` (or false) is a waiter that needs no message because it reads this reply, and gets
-- `caller_ttl` at once instead of the short lease of a grant that nobody has confirmed.
local function hand_over(caller, caller_ttl)
  local owner = redis.call('LPOP', KEYS[2])
  while owner do
    local last = draw(GRANT_TOKENS)
    local others = redis.call('LINDEX', KEYS[2], 0) and 1 or 0
    local ttl = owner == caller and caller_ttl or string.match(owner, '%d+$') or 1
    redis.call('SET', KEYS[1], others == 1 and owner .. '*' or owner, 'PX', ttl)
    local grant = string.format('G %.0f %.0f %d', last, now_us(), others)
    if owner == caller or tell(owner, grant) > 0 then
      if others == 1 then tell_head(ttl) end
      return owner, last, others
    end
    owner = redis.call('LPOP', KEYS[2])
  end
  return false
end
