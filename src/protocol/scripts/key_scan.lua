-- Looks at some of the keys for those of locks: one step of a SCAN, so that a server is never held
-- up for longer. Changes nothing.
--
-- ARGV  1 where to go on; 2 the pattern of their names; 3 how many keys to look at; 4 `locks` if
--       they are Mortise's own, and anything else if nothing of them is to be read
-- Reply {where to go on, and of each hold: the key's name, its kind, what is left of it in ms, how
--       many hold, the owner}; of many that share a lock the first 16 by themselves, and the rest
--       as one without an owner

local SHOWN = 16
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local step = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', ARGV[3])
local reply = {step[1]}

local function tell(key, kind, left, holders, owner)
  for _, field in ipairs({key, kind, left, holders, owner}) do reply[#reply + 1] = field end
end

-- Of holders by the end of their leases.
local function tell_each(key)
  local kind = redis.call('ZSCORE', key, 'rw') and 'rw' or 'semaphore'
  local found = redis.call('ZRANGEBYSCORE', key, now, '+inf', 'WITHSCORES', 'LIMIT', 0, SHOWN)
  for i = 1, #found, 2 do tell(key, kind, found[i + 1] - now, 1, found[i]) end
  local rest = redis.call('ZCOUNT', key, now, '+inf') - #found / 2
  if rest > 0 then tell(key, kind, found[#found] - now, rest, '') end
end

for _, key in ipairs(step[2]) do
  local found = redis.pcall('TYPE', key)
  local kind = type(found) == 'table' and (found.ok or '') or found
  local left = redis.pcall('PTTL', key)
  if type(left) ~= 'number' then left = -2 end
  if ARGV[4] ~= 'locks' then
    tell(key, kind, left, 1, '')
  elseif kind == 'zset' then
    tell_each(key)
  else
    tell(key, kind, left, 1, kind == 'string' and redis.call('GET', key) or '')
  end
end
return reply
