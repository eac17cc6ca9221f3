-- Shared: a key that another protocol, another kind of lock or another program has written.

-- Of KEYS[1], unless another key and its type are given.
local function foreign(wanted, key, found)
  key, found = key or KEYS[1], found or redis.call('TYPE', KEYS[1])
  found = type(found) == 'table' and found.ok or found
  return redis.error_reply('FOREIGN the key ' .. key .. ' holds a ' .. found ..
    ' that the protocol ' .. wanted .. ' did not write')
end
