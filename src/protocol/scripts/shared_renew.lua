-- Extends a hold of a `shared` lock, only for its owner. It never creates a hold, never changes
-- another owner's (hazard 17), and never extends an expired lease. A writer that renews with the
-- weight of a reader becomes a reader, and waiting readers are admitted. On request it draws
-- fencing tokens, which only the owner may do.
--
-- KEYS  1 holders, 2 fence, 3 queue, 4 permits (a semaphore only)
-- ARGV  1 owner token, 2 ttl in ms, 3 how many tokens to draw, 0 for none, 4 weight
-- Reply {1, last token drawn or 0, server time in us, ttl in ms, others wait}, or {0} not the owner

-- #include "fence.lua"
-- #include "refusal.lua"
-- #include "kind.lua"
-- #include "holders.lua"

local owner, ttl, weight = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[4])
local entry, ends = entry_of(weight, owner), NOW + ttl
-- Whether a resize has left more permits in use than there are. Also a hint, like the queue.
local function is_beyond_resize()
  local limit = KEYS[4] and tonumber(redis.pcall('GET', KEYS[4]) or nil)
  return limit and used > limit
end
local function renewed()
  local count, waiting = tonumber(ARGV[3]), redis.pcall('LLEN', KEYS[3])
  local others = type(waiting) == 'number' and waiting > 0 or is_beyond_resize()
  return {1, count > 0 and draw(count) or 0, NOW_US, ttl, others and 1 or 0}
end
if lease_end(entry) then
  keep(entry, ends)
  return renewed()
end
local whole = entry_of(WHOLE, owner)
if KIND == 'semaphore' or weight == WHOLE or not lease_end(whole) then
  return {0}
end

-- Included after the common case, which does not need it.
-- #include "inbox.lua"
-- #include "grace_period.lua"
-- #include "grace.lua"
-- #include "admission.lua"

change(whole, entry, ends)
-- The reader's tokens are below that of the admitted waiters.
local reply = renewed()
reply[5] = select(3, admit_waiters(false, nil, WHOLE))
return reply
