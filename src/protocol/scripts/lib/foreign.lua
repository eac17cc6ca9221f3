-- Shared: a key that another protocol, another kind of lock or another program has written.

local function foreign(wanted, key)
  key = key or KEYS[1]
  local found = redis.call('TYPE', key)
  found = type(found) == 'table' and found.ok or found
  return redis.error_reply('FOREIGN the key ' .. key .. ' holds a ' .. found ..
    ' that the protocol ' .. wanted .. ' did not write')
end
