-- Shared by the steps of the read-write lock's `hash` protocol: a hash with the fields `read` and
-- `write`. Each has the time of day, in ms, at which a hold of one lifetime starts. KEYS[1] lock,
-- KEYS[2] fence, KEYS[3] note; ARGV[4] weight: 1 reads, all other values write; ARGV[5] and ARGV[6]
-- the lifetimes. A hold of another length is written with an earlier or later start. The format has
-- no owners, so an additional note stores which owner wrote which time. It is a sorted set of
-- `<weight> <owner token>` by that time, and of `theirs`, the last time of another program's
-- reader. Times come only from the server's clock. Needs fence.lua and refusal.lua.

local NOW_US = now_us()
local NOW = math.floor(NOW_US / 1000)
local OWNER, TTL, IS_READER = ARGV[1], tonumber(ARGV[2]), ARGV[4] == '1'
local ENTRY, FIELD = ARGV[4] .. ' ' .. OWNER, IS_READER and 'read' or 'write'
local LIFETIME = {read = tonumber(ARGV[5]), write = tonumber(ARGV[6])}

-- Whether the key is neither free nor of the format; and the error of an unreadable key.
local function is_foreign()
  local length = redis.pcall('HLEN', KEYS[1])
  if type(length) == 'table' then return true, refusal(length, 'hlen') end
  local read, write = redis.call('HGET', KEYS[1], 'read'), redis.call('HGET', KEYS[1], 'write')
  for _, value in ipairs({read, write}) do
    if value and not string.find(value, '^%d+$') then return true end
  end
  return length > redis.call('HEXISTS', KEYS[1], 'read') + redis.call('HEXISTS', KEYS[1], 'write')
end

-- The time in a field; nil without one.
local function began(field)
  return tonumber(redis.call('HGET', KEYS[1], field) or nil)
end

-- The rest of a hold of this field with this start, in ms; nil when it is over.
local function left_of(field, time)
  local left = time and time + LIFETIME[field] - NOW
  return left and left >= 0 and left or nil
end

local function noted(member)
  return tonumber(redis.call('ZSCORE', KEYS[3], member) or nil)
end

-- How long others exclude the requester, in ms; nil if they do not.
local function refused_for()
  local writes = left_of('write', began('write'))
  return writes or not IS_READER and left_of('read', began('read')) or nil
end

-- Whether the requester still holds: its lease is not over, no hold excludes it, and its field
-- exists and, for a writer, has its own time.
local function is_owner()
  local mine, found = noted(ENTRY), began(FIELD)
  if not found or not left_of(FIELD, mine) then return false end
  if IS_READER then return not refused_for() end
  return mine == found and not left_of('read', began('read'))
end

-- Gives the requester a lease from now.
local function write()
  local found = began(FIELD)
  local time = NOW + TTL - LIFETIME[FIELD]
  if time == found and time ~= noted(ENTRY) then
    time = time + 1  -- told apart from somebody else's
  end
  if IS_READER and left_of('read', found) then
    local is_ours = false
    for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], found, found)) do
      is_ours = is_ours or member ~= 'theirs'
    end
    if not is_ours then redis.call('ZADD', KEYS[3], found, 'theirs') end
  end
  redis.call('HSET', KEYS[1], FIELD, string.format('%.0f', time))
  redis.call('ZADD', KEYS[3], time, ENTRY)
  if redis.call('PTTL', KEYS[1]) < TTL then redis.call('PEXPIRE', KEYS[1], TTL) end
  if redis.call('PTTL', KEYS[3]) < TTL then redis.call('PEXPIRE', KEYS[3], TTL) end
end
