-- Prolongs a `queued` lock, only for its owner: it never re-creates and never touches another's
-- (hazard 17). May also draw fencing tokens, which only the owner may.
--
-- KEYS  1 lock, 2 queue (unused), 3 fence
-- ARGV  1 owner token, 2 ttl in ms, 3 how many tokens to draw, 0 for none
-- Reply {1, last token drawn or 0, server time in us, ttl in ms, others wait}, or {0} not the owner

local held = redis.call('GET', KEYS[1])
if held ~= ARGV[1] and held ~= ARGV[1] .. '*' then
  return {0}
end

-- #include "fence.lua"

redis.call('PEXPIRE', KEYS[1], ARGV[2])
local count = tonumber(ARGV[3])
local last = count > 0 and draw(count) or 0
return {1, last, now_us(), tonumber(ARGV[2]), held ~= ARGV[1] and 1 or 0}
