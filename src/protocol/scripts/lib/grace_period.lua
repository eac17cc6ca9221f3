-- Shared: the grace period of a server. After a restart with its data, a promotion of a replica, or
-- lost connections, waiters are reconnecting. During this time an inbox without a subscriber does
-- not prove that its client is dead. A handshake stores the grace period in the TTL of the fence
-- counter, as the part beyond FENCE_LIFE, because every step has this key. KEYS[2] fence. Needs
-- fence.lua.

-- Length in ms: after a server change, and after a lost connection of a client.
local CHANGED, CUT_OFF = 5000, 2000

-- The rest of the server's grace period in ms; nil without one. A larger TTL means that the clock
-- was set back.
local function server_grace_ms()
  local left_ms = redis.call('PTTL', KEYS[2]) - FENCE_LIFE
  return left_ms > 0 and left_ms <= CHANGED and left_ms or nil
end
