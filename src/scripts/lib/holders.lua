-- Shared by the steps of `shared`, which serves read-write locks and semaphores: who holds how much.
-- KEYS[1] holders, KEYS[2] fence, KEYS[3] queue, and for a semaphore KEYS[4] its number of permits.
-- An entry is `<weight> <owner token>`: a reader weighs 1, a writer all there is. The holders are a
-- sorted set of entries by the end of their lease in ms of the server's clock; one more member, named
-- for the kind of lock, has minus the weight in use as its score, so that both live and end
-- together. Needs fence.lua and inbox.lua.

local WHOLE = 1073741824
local KIND = KEYS[4] and 'semaphore' or 'rw'
local NOW_US = now_us()
local NOW = math.floor(NOW_US / 1000)

local function entry_of(weight, owner)
  return string.format('%.0f %s', weight, owner)
end

local function split(entry)
  local weight, owner = string.match(entry, '^(%d+) (.*)$')
  return tonumber(weight), owner
end

-- Whether the key is neither free nor of this kind.
local function is_foreign()
  local used = redis.pcall('ZSCORE', KEYS[1], KIND)
  return type(used) == 'table' or not used and redis.call('EXISTS', KEYS[1]) == 1
end

local function in_use()
  return -(redis.call('ZSCORE', KEYS[1], KIND) or 0)
end

-- How much there is. The number that a semaphore's first user gives is kept for 90 days after its
-- last use; later users get the number that is known.
local function permits(given)
  if KIND == 'rw' then return WHOLE end
  local known = tonumber(redis.call('GET', KEYS[4]) or nil)
  if known then
    redis.call('PEXPIRE', KEYS[4], 7776000000)
    return known
  end
  redis.call('SET', KEYS[4], given, 'PX', 7776000000)
  return tonumber(given)
end

-- When the lease of an entry ends; nil when it does not hold, or no more.
local function lease_end(entry)
  local ends = tonumber(redis.call('ZSCORE', KEYS[1], entry) or nil)
  return ends and ends >= NOW and ends or nil
end

local function keep(entry, ends)
  redis.call('ZADD', KEYS[1], ends, entry)
  if redis.call('PTTL', KEYS[1]) < ends - NOW then
    redis.call('PEXPIRE', KEYS[1], ends - NOW)
  end
end

local function take(entry, ends)
  redis.call('ZINCRBY', KEYS[1], -split(entry), KIND)
  keep(entry, ends)
end

local function drop(entry)
  if redis.call('ZREM', KEYS[1], entry) == 0 then return false end
  if redis.call('ZINCRBY', KEYS[1], split(entry), KIND) == '0' then
    redis.call('DEL', KEYS[1])
  end
  return true
end

-- Ends the holds whose lease is over.
local function sweep()
  repeat
    local over = redis.call('ZRANGEBYSCORE', KEYS[1], 0, NOW - 1, 'LIMIT', 0, 100)
    for _, entry in ipairs(over) do drop(entry) end
  until #over == 0
end

-- In how many ms the next lease ends; -2 when nobody holds.
local function next_end()
  local first = redis.call('ZRANGEBYSCORE', KEYS[1], 0, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  return first[2] and tonumber(first[2]) - NOW or -2
end
