-- Shared by the steps of `shared`, for read-write locks and semaphores: the holders and their
-- weights. KEYS[1] holders, KEYS[2] fence, KEYS[3] queue, and for a semaphore KEYS[4] its number of
-- permits. An entry is `<weight> <owner token>`: a reader weighs 1, a writer all of the lock. The
-- holders are a sorted set of entries by the end of their lease in ms of the server's clock. One
-- more member, named after the kind of lock, has minus the weight in use as its score, so that both
-- live and end together. Needs fence.lua, kind.lua and refusal.lua.

local NOW_US = now_us()
local NOW = math.floor(NOW_US / 1000)
local COUNTER = redis.pcall('ZSCORE', KEYS[1], KIND)
local PROBLEM = refusal(COUNTER, 'zscore')
if PROBLEM then return PROBLEM end
-- Whether the key is neither free nor of this kind. No step changes such a key: it may have been
-- created after the end of the lease.
local IS_FOREIGN = type(COUNTER) == 'table' or not COUNTER and redis.call('EXISTS', KEYS[1]) == 1
-- The weight in use, which take, drop and change keep.
local used = IS_FOREIGN and 0 or -(COUNTER or 0)

local function entry_of(weight, owner)
  return string.format('%.0f %s', weight, owner)
end

local function split(entry)
  local weight, owner = string.match(entry, '^(%d+) (.*)$')
  return tonumber(weight) or 0, owner or entry
end

-- The number of permits. The number of a semaphore's first user is kept for a day after its last
-- use. Later users get this number. A request for a larger weight is refused, and keeps no number.
local function permits(given, weight)
  if KIND == 'rw' then return WHOLE end
  local known = tonumber(redis.call('GET', KEYS[4]) or nil)
  if known then return known end
  if (weight or 0) <= tonumber(given) then
    redis.call('SET', KEYS[4], given, 'PX', PERMITS_LIFE)
  end
  return tonumber(given)
end

-- The end of an entry's lease; nil when the entry does not hold, or no longer holds.
local function lease_end(entry)
  local ends = used > 0 and tonumber(redis.call('ZSCORE', KEYS[1], entry) or nil)
  return ends and ends >= NOW and ends or nil
end

-- The key lasts as long as the last lease, and so does the use of the number of permits. A lease in
-- its last ms is still in force, and PEXPIRE with 0 deletes the key.
local function last_until(ends)
  redis.call('PEXPIRE', KEYS[1], math.max(ends - NOW, 1))
  if KEYS[4] then redis.call('PEXPIRE', KEYS[4], ends - NOW + PERMITS_LIFE) end
end

-- Starts with a command that needs no memory, so that holds survive without memory (hazard 13).
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

-- Gives a hold another weight. It adds the new entry before it removes the old one, because during
-- a slot migration a script cannot access a key that it has emptied (hazard 29). The counter
-- changes once, and keep() needs no memory (hazard 13).
local function change(entry, changed, ends)
  keep(changed, ends)
  redis.call('ZREM', KEYS[1], entry)
  used = used - split(entry) + split(changed)
  redis.call('ZADD', KEYS[1], -used, KIND)
end

-- Drops the hold of an owner. A step without a received reply may have raised or lowered its
-- weight.
local function drop_hold(weight, owner)
  return drop(entry_of(weight, owner)) or
    KIND == 'rw' and (drop(entry_of(1, owner)) or drop(entry_of(WHOLE, owner)))
end

-- Drops the hold of an owner with any weight.
local function drop_all_of(owner)
  for _, entry in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], 0, '+inf')) do
    if select(2, split(entry)) == owner then return drop(entry) end
  end
  return false
end

-- Drops expired holds.
local function sweep()
  while used > 0 do
    local over = redis.call('ZRANGEBYSCORE', KEYS[1], 0, NOW - 1, 'LIMIT', 0, 100)
    if #over == 0 then return end
    for _, entry in ipairs(over) do drop(entry) end
  end
end

-- The time until the next lease ends, in ms; -2 without holders.
local function next_end()
  if used == 0 then return -2 end
  local first = redis.call('ZRANGEBYSCORE', KEYS[1], 0, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  return first[2] and tonumber(first[2]) - NOW or -2
end
