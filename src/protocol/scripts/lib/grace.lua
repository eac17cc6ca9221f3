-- Shared by the steps that let in others: for how long those who wait are waited for whom nobody
-- hears. On a settled server not at all. On an unsettled one they may be on their way back, and
-- have one grace period for that, all of this queue together: then who is still away is passed. So
-- the dead cost those behind them that time once, also where a connection that is lost again and
-- again keeps the server unsettled. KEYS[3] queue. Needs inbox.lua and unsettled.lua.

-- The queue lives this long beyond the last sign of its head, in ms. A sign is the head's own look,
-- or that it has become the head, so what has passed of this time is for how long the head is
-- silent.
local QUEUE_LIFE = 300000
-- A TTL near this tells of a grace period, by what is beyond it. That one has ended is known for
-- OVER ms; what was noted before is forgotten.
local GRACE, OVER = 360000, 5000
-- So many in the queue are looked at when it ends.
local MANY_QUEUED = 1000

-- What is left of it, in ms: 0 or less when it has ended, nil without one.
local function grace_left()
  local left = redis.call('PTTL', KEYS[3]) - GRACE
  return left > -OVER and left <= CHANGED and left or nil
end

-- A sign of the head. It ends no grace period, which is also that of those behind it.
local function renew_queue()
  if not grace_left() then redis.call('PEXPIRE', KEYS[3], QUEUE_LIFE) end
end

-- For how many ms whom nobody hears is waited for; nil when not. Begins the grace period.
local function grace_for()
  local unsettled = unsettled_for()
  if not unsettled then return nil end
  local left = grace_left()
  if left and left > 0 then return left end
  redis.call('PEXPIRE', KEYS[3], GRACE + unsettled)
  return unsettled
end

-- Passes all who are still away when the grace period has ended, but for `asker`, who is there.
-- `owner_of` tells the owner token of an entry. Returns whether any was passed.
local function end_grace(asker, owner_of)
  local left = grace_left()
  if not left or left > 0 then return false end
  local is_any = false
  for _, entry in ipairs(redis.call('LRANGE', KEYS[3], 0, MANY_QUEUED - 1)) do
    if entry ~= asker and not is_heard(owner_of(entry)) then
      redis.call('LREM', KEYS[3], 1, entry)
      is_any = true
    end
  end
  redis.call('PEXPIRE', KEYS[3], QUEUE_LIFE)
  return is_any
end
