-- Shared: whether the server is in its grace period. When it has come back with its data, when a
-- replica has been promoted and when connections were lost, those who wait are on their way back,
-- and for so long it is no proof of death that nobody hears for them. A greeting notes that in the
-- TTL of the fence counter, which every step has at hand: what it has beyond FENCE_LIFE. KEYS[2]
-- fence. Needs fence.lua.

-- For how long, in ms: after a server has changed, and after a client has lost its connection.
local CHANGED, CUT_OFF = 5000, 2000

-- For how many ms it still is; nil when it is not. A TTL beyond that tells of a clock that was set
-- back.
local function grace_left_ms()
  local left = redis.call('PTTL', KEYS[2]) - FENCE_LIFE
  return left > 0 and left <= CHANGED and left or nil
end
