-- Shared by the steps of `two_key`: a read key and a write key, each "1" with a TTL. KEYS[1] read
-- key, KEYS[2] fence, KEYS[3] write key, KEYS[4] note; ARGV[4] weight: 1 reads, all other values
-- write. The format has no owners, so an additional note stores Mortise's holders. It is a sorted
-- set. Each `<weight> <owner token>` is scored by the end of its lease. `written` has the end that
-- Mortise last gave the read key. `theirs` has the end that another program's reader last gave it.
-- A key with a different end was written by another program. Needs fence.lua and refusal.lua.

local NOW_US = now_us()
local NOW = math.floor(NOW_US / 1000)
local OWNER, TTL, IS_READER = ARGV[1], tonumber(ARGV[2]), ARGV[4] == '1'
local ENTRY = ARGV[4] .. ' ' .. OWNER

-- The key that is neither free nor of the format, or nil; and the error of an unreadable key.
local function foreign_key()
  local value = redis.pcall('GET', KEYS[1])
  if value and value ~= '1' then return KEYS[1], refusal(value, 'get') end
  value = redis.pcall('GET', KEYS[3])
  if value and value ~= '1' then return KEYS[3], refusal(value, 'get') end
end

-- The rest of either key, in ms, as in PTTL.
local function read_left() return redis.call('PTTL', KEYS[1]) end
local function write_left() return redis.call('PTTL', KEYS[3]) end

-- The end of a key whose rest `pttl` returns, in ms; infinite without a TTL, nil without the key.
-- Up to Redis 7.0 the clock advances during a script, so a reading counts only if it took less than
-- one ms.
local function ends_at(pttl)
  local before, left, after
  repeat
    before = math.floor(now_us() / 1000)
    left = pttl()
    after = math.floor(now_us() / 1000)
  until before == after
  if left == -2 then return nil end
  return left == -1 and math.huge or after + left
end

local function noted(member)
  return tonumber(redis.call('ZSCORE', KEYS[4], member) or nil)
end

local function note(member, ends)
  redis.call('ZADD', KEYS[4], ends == math.huge and '+inf' or ends, member)
end

local function is_same(one, other)
  return one and other and (one == other or math.abs(one - other) <= 1)
end

-- Whether the requester still holds: its lease is not over, its key exists and, for a writer, has
-- its own end.
local function is_owner()
  local ends = noted(ENTRY)
  if not ends or ends < NOW then return false end
  if IS_READER then
    return ends_at(read_left) and not ends_at(write_left)
  end
  return is_same(ends, ends_at(write_left))
end

-- Notes that other programs have written the read key since Mortise did.
local function note_theirs()
  local ends = ends_at(read_left)
  if ends and not is_same(ends, noted('written')) then
    note('theirs', ends)
  end
end

-- Sets the read key's end, unless another hold ends later.
local function keep_read_key(ends)
  local present = ends_at(read_left)
  if not present or present < ends then
    redis.call('SET', KEYS[1], '1', 'PXAT', ends)
    note('written', ends)
  end
end

-- Gives the requester a lease from now.
local function write()
  local ends = NOW + TTL
  if IS_READER then
    note_theirs()
    keep_read_key(ends)
  else
    redis.call('SET', KEYS[3], '1', 'PXAT', ends)
  end
  note(ENTRY, ends)
  -- A foreign key without a TTL is noted for a day after Mortise's last hold.
  local margin = noted('theirs') == math.huge and 86400000 or 1000
  local newest =
    redis.call('ZREVRANGEBYSCORE', KEYS[4], '(+inf', '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
  local last = newest[2]
  redis.call('PEXPIRE', KEYS[4], string.format('%.0f', last - NOW + margin))
end
