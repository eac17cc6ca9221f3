-- Shared by the steps of the read-write lock's `hash` protocol: a hash whose fields `read` and
-- `write` hold the time of day, in ms, from which a hold counts for one lifetime. KEYS[1] lock,
-- KEYS[2] fence, KEYS[3] note; ARGV[4] weight: 1 reads, all else writes; ARGV[5] and ARGV[6] the
-- lifetimes. A hold of another length than the lifetime is written as one that began sooner or
-- later. The format has no owners, so a note beside it says who of ours has written which time: a
-- sorted set of `<weight> <owner token>` by that time, and of `theirs`, the time that some other
-- reader last wrote. Times are taken from the server's clock only. Needs fence.lua and refusal.lua.

local NOW_US = now_us()
local NOW = math.floor(NOW_US / 1000)
local OWNER, TTL, IS_READER = ARGV[1], tonumber(ARGV[2]), ARGV[4] == '1'
local ENTRY, FIELD = ARGV[4] .. ' ' .. OWNER, IS_READER and 'read' or 'write'
local LIFETIME = {read = tonumber(ARGV[5]), write = tonumber(ARGV[6])}

-- Whether the key is neither free nor of the format; and the error of one that could not be looked
-- at.
local function is_foreign()
  local length = redis.pcall('HLEN', KEYS[1])
  if type(length) == 'table' then return true, refusal(length, 'hlen') end
  local read, write = redis.call('HGET', KEYS[1], 'read'), redis.call('HGET', KEYS[1], 'write')
  for _, value in ipairs({read, write}) do
    if value and not string.find(value, '^%d+$') then return true end
  end
  return length > redis.call('HEXISTS', KEYS[1], 'read') + redis.call('HEXISTS', KEYS[1], 'write')
end

-- The time that a field holds; nil when there is none.
local function began(field)
  return tonumber(redis.call('HGET', KEYS[1], field) or nil)
end

-- In how many ms a hold of this field that began then is over; nil when it is.
local function left_of(field, time)
  local left = time and time + LIFETIME[field] - NOW
  return left and left >= 0 and left or nil
end

local function noted(member)
  return tonumber(redis.call('ZSCORE', KEYS[3], member) or nil)
end

-- For how long others keep the asker out, in ms; nil when they do not.
local function refused_for()
  local writes = left_of('write', began('write'))
  return writes or not IS_READER and left_of('read', began('read')) or nil
end

-- Whether the asker's hold is there still: its lease is not over, nobody has got in beside it, and
-- its field has not gone nor, of a writer, been written by somebody else.
local function is_owner()
  local mine, found = noted(ENTRY), began(FIELD)
  if not found or not left_of(FIELD, mine) then return false end
  if IS_READER then return not refused_for() end
  return mine == found and not left_of('read', began('read'))
end

-- Gives the asker a lease from now.
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
