-- Looks at some of the keys for those of locks: one step of a SCAN, so that a server is never held
-- up for longer. Changes nothing.
--
-- ARGV  1 where to go on; 2 the pattern of their names; 3 how many keys to look at; 4 `locks` if
--       they are Mortise's own, and anything else if nothing of them is to be read
-- Reply {where to go on, and of each key: its name, its type, what is left of it in ms, how many
--       hold, an owner}

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local step = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', ARGV[3])
local reply = {step[1]}
for _, key in ipairs(step[2]) do
  local found = redis.pcall('TYPE', key)
  local kind, holders, owner = type(found) == 'table' and (found.ok or '') or found, 1, ''
  local left = redis.pcall('PTTL', key)
  if ARGV[4] == 'locks' and kind == 'string' then
    owner = redis.call('GET', key) or ''
  elseif ARGV[4] == 'locks' and kind == 'zset' then
    kind = redis.call('ZSCORE', key, 'rw') and 'rw' or 'semaphore'
    holders = redis.call('ZCOUNT', key, now, '+inf')
    owner = redis.call('ZRANGEBYSCORE', key, now, '+inf', 'LIMIT', 0, 1)[1] or ''
  end
  for _, field in ipairs({key, kind, type(left) == 'number' and left or -2, holders, owner}) do
    reply[#reply + 1] = field
  end
end
return reply
