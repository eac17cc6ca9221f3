-- Searches some keys for locks: one step of a SCAN, so that the server is never blocked for longer.
-- Changes nothing.
--
-- ARGV  1 the cursor; 2 the pattern of key names; 3 how many keys to scan; 4 `locks` for Mortise's
--       own keys, and another text for keys whose values are not read
-- Reply {the next cursor, and for each hold: the key's name, its kind, its rest in ms, the number
--       of holders, the owner}; of many holders of a shared lock the first 16 are separate, and the
--       others are one hold without an owner

local SHOWN = 16
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local step = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', ARGV[3])
local reply = {step[1]}

local function report(key, kind, left, holders, owner)
  for _, field in ipairs({key, kind, left, holders, owner}) do reply[#reply + 1] = field end
end

-- Reports holders by the end of their leases.
local function report_each(key)
  local kind = redis.call('ZSCORE', key, 'rw') and 'rw' or 'semaphore'
  local found = redis.call('ZRANGEBYSCORE', key, now, '+inf', 'WITHSCORES', 'LIMIT', 0, SHOWN)
  for i = 1, #found, 2 do report(key, kind, found[i + 1] - now, 1, found[i]) end
  local rest = redis.call('ZCOUNT', key, now, '+inf') - #found / 2
  if rest > 0 then report(key, kind, found[#found] - now, rest, '') end
end

for _, key in ipairs(step[2]) do
  local found = redis.pcall('TYPE', key)
  local kind = type(found) == 'table' and (found.ok or '') or found
  local left = redis.pcall('PTTL', key)
  if type(left) ~= 'number' then left = -2 end
  if ARGV[4] ~= 'locks' then
    report(key, kind, left, 1, '')
  elseif kind == 'zset' then
    report_each(key)
  else
    report(key, kind, left, 1, kind == 'string' and redis.call('GET', key) or '')
  end
end
return reply
