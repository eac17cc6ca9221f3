-- Reports the holder of a `token` lock. Changes nothing.
--
-- KEYS  1 lock, 2 fence
-- ARGV  1 owner token of the requesting handle's hold
-- Reply {owners, rest of the lease in ms, newest token or nil, whether the requester is the owner,
--       number of owners, 0, {}, number of owners, 1}

-- #include "foreign/foreign.lua"
-- #include "refusal.lua"

local held = redis.pcall('GET', KEYS[1])
if type(held) == 'table' then
  return refusal(held, 'get') or foreign('token')
end
local owners = held and {held} or {}
local is_mine = held == ARGV[1] and 1 or 0
return {
  owners, redis.call('PTTL', KEYS[1]), redis.call('GET', KEYS[2]), is_mine, #owners, 0, {},
  #owners, 1,
}
