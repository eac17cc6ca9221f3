-- Reports the holder of a `hash` lock. Changes nothing.
--
-- KEYS  1 lock, 2 fence
-- ARGV  1 owner of the requesting handle's hold
-- Reply {owners, rest of the lease in ms, newest token or nil, whether the requester is the owner,
--       number of owners, 0, {}, number of owners, 1}

-- #include "foreign/foreign.lua"
-- #include "refusal.lua"

local owners = redis.pcall('HKEYS', KEYS[1])
if owners.err then
  return refusal(owners, 'hkeys') or foreign('hash')
end
local is_mine = redis.call('HEXISTS', KEYS[1], ARGV[1])
return {
  owners, redis.call('PTTL', KEYS[1]), redis.call('GET', KEYS[2]), is_mine, #owners, 0, {},
  #owners, 1,
}
