-- Shared: fencing tokens and the server's clock.
-- KEYS[2] is the fence counter of the database. Every grant counts it up. Its initial value is the
-- server's clock in microseconds, so a lost counter never makes tokens fall: a value too small for
-- such a time means that the counter was lost. Tokens stay below 2^53 (hazard 30).

local LEAST_TOKEN = 1e15
-- In ms, after the last grant or connect.
local FENCE_LIFE = 7776000000

local function now_us()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

-- Draws `count` tokens and returns the last; the first is `count - 1` below it. It cannot fail: it
-- replaces a counter of a wrong type, because the step may have written already.
local function draw(count)
  local last = redis.pcall('INCRBY', KEYS[2], count)
  if type(last) ~= 'number' or last < LEAST_TOKEN then
    last = now_us() + count
    redis.call('SET', KEYS[2], string.format('%.0f', last), 'PX', FENCE_LIFE)
  end
  return last
end
