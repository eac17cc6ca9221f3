-- Extends a `queued` lock, only for its owner. It never creates a lock, never changes another
-- owner's (hazard 17), and never extends an expired lease. On request it draws fencing tokens,
-- which only the owner may do.
--
-- KEYS  1 lock, 2 fence, needed only to draw tokens
-- ARGV  1 owner token, 2 ttl in ms, 3 how many tokens to draw, 0 for none
-- Reply {1, last token drawn or 0, server time in us, ttl in ms, others wait}; not the owner: {0},
--       or {0, 1} when there is another owner

-- #include "fence.lua"
-- #include "mark.lua"

local held = redis.call('GET', KEYS[1])
local is_alone = held == ARGV[1]
if not is_alone and (held ~= ARGV[1] .. '*' or lease_left(held) == -2) then
  local is_others = held and string.sub(held, 1, #ARGV[1]) ~= ARGV[1]
  return is_others and {0, 1} or {0}
end
redis.call('PEXPIRE', KEYS[1], is_alone and ARGV[2] or ARGV[2] + QUEUE_TURN)
local count = tonumber(ARGV[3])
local last = count > 0 and draw(count) or 0
return {1, last, now_us(), tonumber(ARGV[2]), is_alone and 0 or 1}
