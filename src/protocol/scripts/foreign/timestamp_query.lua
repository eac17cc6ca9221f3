-- Reports the holder of a `timestamp` or `timestamp_binary` lock: the noted owner of its value, or
-- the time that another program wrote. Changes nothing.
--
-- KEYS  1 lock, 2 fence, 3 note
-- ARGV  1 owner token of the requesting handle's hold, 2 unused, 3 `decimal` or `binary`
-- Reply {owners, rest of the lease in ms, newest token or nil, whether the requester is the owner,
--       number of owners, 0, {}, number of owners, 1}

-- #include "foreign/foreign.lua"
-- #include "refusal.lua"
-- #include "fence.lua"
-- #include "foreign/timestamp.lua"

local value, left, problem = look()
if value == nil then
  return problem or foreign('timestamp, ' .. FORM .. ',')
end
local owners = {}
if left ~= -2 then
  local note = redis.call('GET', KEYS[3])
  local is_ours = note and string.sub(note, -#value - 1) == ' ' .. value
  owners[1] = is_ours and string.sub(note, 1, -#value - 2) or value
end
local is_mine = left ~= -2 and is_owned_by(ARGV[1], value) and 1 or 0
return {owners, left, redis.call('GET', KEYS[2]), is_mine, #owners, 0, {}, #owners, 1}
