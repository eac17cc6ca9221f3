-- Continues the exported hold of a `queued` lock: replaces its owner token by that of the adopter.
-- So a second adoption finds another owner, and so does a late request of the exporter (hazards 16
-- and 17). Idempotent by owner token (hazard 15). It never revives an expired lease, and the queue
-- and the mark stay. The fencing token rises, so that the exporter's writes are refused.
--
-- KEYS  1 lock, 2 fence, 3 queue
-- ARGV  1 owner token of the adopter, 2 ttl in ms, 3 mode: keep ends no lease earlier than before,
--       so that an adoption can be undone, set gives it this ttl, unless it is repeated; 4 owner
--       token of the exported hold
-- Reply {1, fencing token, server time in us, ttl in ms, others wait}   adopted
--       {0, 0, server time in us, rest of the present lease in ms, -1}   the exported hold is over
--       or was adopted by another; no change
-- Error FOREIGN when this protocol did not write the key's value; no change.

-- #include "foreign/foreign.lua"
-- #include "refusal.lua"
-- #include "fence.lua"
-- #include "mark.lua"

local owner, ttl, exported = ARGV[1], tonumber(ARGV[2]), ARGV[4]
local held = redis.pcall('GET', KEYS[1])
if type(held) == 'table' or held and string.sub(held, 1, 3) ~= 'm1:' then
  return refusal(held, 'get') or foreign('queued')
end
local left = held and lease_left(held) or -2
local is_alone = held == owner or held == exported
local is_marked_hold = held == owner .. '*' or held == exported .. '*'
if left == -2 or not is_alone and not is_marked_hold then
  return {0, 0, now_us(), left, -1}
end
local is_repeated = held == owner or held == owner .. '*'
if ARGV[3] == 'keep' or is_repeated then ttl = math.max(ttl, left, 1) end
local last = draw(1)
if is_alone then
  redis.call('SET', KEYS[1], owner, 'PX', ttl)
else
  redis.call('SET', KEYS[1], owner .. '*', 'PX', ttl + QUEUE_TURN)
end
local waiting = redis.pcall('LLEN', KEYS[3])
local others = is_marked_hold or type(waiting) == 'number' and waiting > 0
return {1, last, now_us(), ttl, others and 1 or 0}
