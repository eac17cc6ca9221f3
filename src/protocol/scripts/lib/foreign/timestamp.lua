-- Shared by the steps of `timestamp` and `timestamp_binary`: a string with the lock's end as a time
-- of day. KEYS[1] lock, KEYS[2] fence, KEYS[3] note; ARGV[3] the form of the time. The format has
-- no owner, so an additional note stores the owner and its time: `<owner token> <time>`. An owner
-- holds the lock while the lock has the noted time. Times come only from the server's clock. Needs
-- fence.lua and refusal.lua.

local FORM = ARGV[3]
local NOW_US = now_us()
local NOW = math.floor(NOW_US / 1000)
-- `decimal`: its users write this for a lock without an end.
local FOREVER = 2147483649
-- `decimal`: an abandoned key expires this long after its lock has ended, in ms, by any clock. The
-- format's own programs set no TTL.
local LEFT_BEHIND = 86400000
-- `binary`: the time is this much later than the lease, for clock differences, in ms.
local TOLERANCE = 1000

-- The lock's value for a lease that ends in `ttl` ms.
local function stamp(ttl)
  if FORM == 'decimal' then
    return string.format('%.3f', (NOW + ttl) / 1000)
  end
  local left, bytes = NOW + ttl + TOLERANCE, ''
  for _ = 1, 8 do
    bytes = string.char(left % 256) .. bytes
    left = math.floor(left / 256)
  end
  return bytes
end

-- The end of a lock with this value, in ms; false for a value of another form.
local function ends_at(value)
  if FORM == 'decimal' then
    if not string.find(value, '^%d+%.?%d*$') then return false end
    local seconds = tonumber(value)
    return seconds == FOREVER and math.huge or seconds * 1000
  end
  if #value ~= 8 then return false end
  local ms = 0
  for position = 1, 8 do
    ms = ms * 256 + string.byte(value, position)
  end
  return ms
end

-- The lock's value, or false without one; and its rest in ms: -1 for no end, -2 when it is over.
-- Neither for a foreign or unreadable key, and then the error.
local function look()
  local value = redis.pcall('GET', KEYS[1])
  if type(value) == 'table' then return nil, nil, refusal(value, 'get') end
  if not value then return false, -2 end
  local ends = ends_at(value)
  if not ends then return nil end
  if ends < NOW then return value, -2 end
  local expires = redis.call('PTTL', KEYS[1])
  local left = math.min(ends - NOW, expires >= 0 and expires or math.huge)
  return value, left == math.huge and -1 or math.ceil(left)
end

-- Whether this owner wrote this lock's value. Its note ends with its lease.
local function is_owned_by(owner, value)
  return value and redis.call('GET', KEYS[3]) == owner .. ' ' .. value
end

local function write(owner, ttl)
  local value = stamp(ttl)
  redis.call('SET', KEYS[1], value, 'PX', FORM == 'decimal' and ttl + LEFT_BEHIND or ttl)
  redis.call('SET', KEYS[3], owner .. ' ' .. value, 'PX', ttl)
end
