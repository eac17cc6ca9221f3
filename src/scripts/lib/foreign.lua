-- Shared: a key that another protocol, another kind of lock or another program has written.

local function foreign(wanted)
  local found = redis.call('TYPE', KEYS[1])
  found = type(found) == 'table' and found.ok or found
  return redis.error_reply('FOREIGN the key ' .. KEYS[1] .. ' holds a ' .. found ..
    ' that the protocol ' .. wanted .. ' did not write')
end
