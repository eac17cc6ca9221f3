-- Shared by the steps of `shared`, which serves read-write locks and semaphores: who holds how
-- much. KEYS[1] holders, KEYS[2] fence, KEYS[3] queue, and for a semaphore KEYS[4] its number of
-- permits. An entry is `<weight> <owner token>`: a reader weighs 1, a writer all there is. The
-- holders are a sorted set of entries by the end of their lease in ms of the server's clock; one
-- more member, named for the kind of lock, has minus the weight in use as its score, so that both
-- live and end together. Needs fence.lua, kind.lua and refusal.lua.

local NOW_US = now_us()
local NOW = math.floor(NOW_US / 1000)
local COUNTER = redis.pcall('ZSCORE', KEYS[1], KIND)
local PROBLEM = refusal(COUNTER, 'zscore')
if PROBLEM then return PROBLEM end
-- Whether the key is neither free nor of this kind. No step changes such a key: it may have come to
-- be after our lease had ended.
local IS_FOREIGN = type(COUNTER) == 'table' or not COUNTER and redis.call('EXISTS', KEYS[1]) == 1
-- The weight in use, which only take and drop change.
local used = IS_FOREIGN and 0 or -(COUNTER or 0)

local function entry_of(weight, owner)
  return string.format('%.0f %s', weight, owner)
end

local function split(entry)
  local weight, owner = string.match(entry, '^(%d+) (.*)$')
  return tonumber(weight) or 0, owner or entry
end

-- How much there is. The number that a semaphore's first user gives is kept for a day after its
-- last use; later users get the number that is known.
local function permits(given)
  if KIND == 'rw' then return WHOLE end
  local known = tonumber(redis.call('GET', KEYS[4]) or nil)
  if known then return known end
  redis.call('SET', KEYS[4], given, 'PX', PERMITS_LIFE)
  return tonumber(given)
end

-- When the lease of an entry ends; nil when it does not hold, or no more.
local function lease_end(entry)
  local ends = used > 0 and tonumber(redis.call('ZSCORE', KEYS[1], entry) or nil)
  return ends and ends >= NOW and ends or nil
end

-- The key lasts as long as the last lease, and the number of permits is in use as long.
local function last_until(ends)
  redis.call('PEXPIRE', KEYS[1], ends - NOW)
  if KEYS[4] then redis.call('PEXPIRE', KEYS[4], ends - NOW + PERMITS_LIFE) end
end

-- It begins with what needs no memory, so that holds are kept where there is none (hazard 13).
local function keep(entry, ends)
  last_until(math.max(ends, NOW + redis.call('PTTL', KEYS[1])))
  redis.call('ZADD', KEYS[1], ends, entry)
end

local function take(entry, ends)
  local is_first = used == 0
  used = used + split(entry)
  redis.call('ZADD', KEYS[1], -used, KIND, ends, entry)
  if is_first or redis.call('PTTL', KEYS[1]) < ends - NOW then last_until(ends) end
end

local function drop(entry)
  if used == 0 or redis.call('ZREM', KEYS[1], entry) == 0 then return false end
  used = used - split(entry)
  if used > 0 then
    redis.call('ZADD', KEYS[1], -used, KIND)
  else
    redis.call('DEL', KEYS[1])
  end
  return true
end

-- Drops what an owner has. A read-write lock may have been raised or lowered by a step whose answer
-- was lost.
local function drop_hold(weight, owner)
  return drop(entry_of(weight, owner)) or
    KIND == 'rw' and (drop(entry_of(1, owner)) or drop(entry_of(WHOLE, owner)))
end

-- The same, whatever it is.
local function drop_all_of(owner)
  for _, entry in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], 0, '+inf')) do
    if select(2, split(entry)) == owner then return drop(entry) end
  end
  return false
end

-- Ends the holds whose lease is over.
local function sweep()
  while used > 0 do
    local over = redis.call('ZRANGEBYSCORE', KEYS[1], 0, NOW - 1, 'LIMIT', 0, 100)
    if #over == 0 then return end
    for _, entry in ipairs(over) do drop(entry) end
  end
end

-- In how many ms the next lease ends; -2 when nobody holds.
local function next_end()
  if used == 0 then return -2 end
  local first = redis.call('ZRANGEBYSCORE', KEYS[1], 0, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  return first[2] and tonumber(first[2]) - NOW or -2
end
