-- Shared: a key of another protocol, another kind of lock or another program.

-- The error for KEYS[1], or for another key and its type.
local function foreign(expected, key, found)
  key, found = key or KEYS[1], found or redis.call('TYPE', KEYS[1])
  found = type(found) == 'table' and found.ok or found
  return redis.error_reply('FOREIGN the key ' .. key .. ' holds a ' .. found ..
    ' that the protocol ' .. expected .. ' did not write')
end
