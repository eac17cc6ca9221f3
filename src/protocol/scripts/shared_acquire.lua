-- Acquires a `shared` lock, shared or exclusive, or takes a place in its queue: the only acquire
-- step of read-write locks and semaphores. Idempotent by owner token. One step enqueues, refreshes,
-- recovers the holds of dead holders, repairs a lost connection, and finds a grant whose message
-- was lost (hazards 15, 16, 24). The order is first come, first served, so no owner passes a
-- waiting writer. But each new or repeated request passes dead clients at the head of the queue.
--
-- KEYS  1 holders, 2 fence, 3 queue, 4 permits (a semaphore only)
-- ARGV  1 owner token, 2 ttl in ms, 3 `try` (no place in the queue), `wait` (enqueue, first time),
--       `again` (enqueue unless queued already), 4 weight, 5 permits if the server has none,
--       6 secret, not with `try`
-- Reply {1, fencing token, server time in us, ttl in ms, others wait}   owned
--       {0, 0, server time in us, ms until the next lease ends, place}   not owned; place 0 is the
--       head of the queue, -1 none
-- Error FOREIGN when the key has a foreign value, LIMIT when the weight is above the permits; no
--       change.

-- #include "fence.lua"
-- #include "kind.lua"

-- The common case, at the lowest cost for the server: no holders and no waiters. It calls no Lua
-- function and converts few numbers to texts. The code below handles all other cases and read
-- errors, also a lost counter.
local key_count = redis.pcall('EXISTS', KEYS[1], KEYS[3])
if key_count == 0 then
  local known = KEYS[4] and redis.pcall('GET', KEYS[4])
  if not KEYS[4] or tonumber(ARGV[4]) <= (tonumber(known) or 0) then
    local time, last = redis.call('TIME'), redis.pcall('INCRBY', KEYS[2], '1')
    if type(last) == 'number' and last >= LEAST_TOKEN then
      local now, ttl = time[1] * 1000000 + time[2], tonumber(ARGV[2])
      local ends = (now - now % 1000) / 1000 + ttl
      redis.call('ZADD', KEYS[1], '-' .. ARGV[4], KIND, ends, ARGV[4] .. ' ' .. ARGV[1])
      redis.call('PEXPIRE', KEYS[1], ARGV[2])
      if known then redis.call('PEXPIRE', KEYS[4], ttl + PERMITS_LIFE) end
      return {1, last, now, ttl, 0}
    end
  end
end

-- #include "foreign/foreign.lua"
-- #include "refusal.lua"
-- #include "holders.lua"

local owner, ttl, mode, weight = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local entry, ends = entry_of(weight, owner), NOW + ttl
if IS_FOREIGN then return foreign(KIND) end
local limit = permits(ARGV[5], weight)
if weight > limit then
  return redis.error_reply('LIMIT ' .. weight .. ' permits were asked for, there are ' .. limit)
end

sweep()
if lease_end(entry) then
  keep(entry, ends)
  local waiting = redis.pcall('LLEN', KEYS[3])
  return {1, draw(1), NOW_US, ttl, type(waiting) == 'number' and waiting > 0 and 1 or 0}
end
local function enter()
  local last = draw(1)
  take(entry, ends)
  return {1, last, NOW_US, ttl, 0}
end
-- If the holders' key exists, an EXISTS count of one means that the queue is empty.
local length = COUNTER and key_count == 1 and 0 or redis.call('LLEN', KEYS[3])
if length == 0 and used + weight <= limit then
  return enter()
end

-- Included after the common case, which does not need it.
-- #include "inbox.lua"
-- #include "grace_period.lua"
-- #include "grace.lua"
-- #include "admission.lua"

if mode == 'try' then
  -- All waiters may be dead, without any check since the last lease ended.
  admit_waiters(false, nil, limit, remove_dead_head())
  if redis.call('LLEN', KEYS[3]) == 0 and used + weight <= limit then
    return enter()
  end
  return {0, 0, NOW_US, next_end(), -1}
end

-- From this line on the owner waits.
local queued = ARGV[6] and entry .. ' ' .. ARGV[6] or entry
local is_new_head = length > 0 and remove_dead_head(queued)
if mode == 'wait' or not redis.call('LPOS', KEYS[3], queued) then
  redis.call('RPUSH', KEYS[3], queued)
end
local count, last, others = admit_waiters(queued, ends, limit, is_new_head)
if count > 0 and lease_end(entry) then
  return {1, last, NOW_US, ttl, others}
end
-- The first waiter notifies the holders. Later holders are notified with their grant.
if length == 0 then notify_holders() end
local place = mode == 'again' and redis.call('LPOS', KEYS[3], queued)
return {0, 0, NOW_US, next_end(), place or redis.call('LLEN', KEYS[3]) - 1}
