-- Ends a wait for a `shared` lock, and releases a grant made meanwhile. Later waiters may then have
-- room. Idempotent.
--
-- KEYS  1 holders, 2 fence, 3 queue, 4 permits (a semaphore only)
-- ARGV  1 owner token, 2 unused, 3 unused, 4 weight, 5 permits if the server knows none,
--       6 secret, unless it was never queued
-- Reply 0 it was neither queued nor owner, 1 it was queued, 2 it was an owner

-- #include "fence.lua"
-- #include "inbox.lua"
-- #include "refusal.lua"
-- #include "kind.lua"
-- #include "holders.lua"
-- #include "grace_period.lua"
-- #include "grace.lua"
-- #include "admission.lua"

local weight, owner = tonumber(ARGV[4]), ARGV[1]
local entry = entry_of(weight, owner)
local queued = ARGV[6] and entry .. ' ' .. ARGV[6] or entry
if IS_FOREIGN then return redis.call('LREM', KEYS[3], 1, queued) end
local used_before = used
sweep()
local was_head = redis.call('LINDEX', KEYS[3], 0) == queued
local result = drop_hold(weight, owner) and 2 or redis.call('LREM', KEYS[3], 1, queued)
-- The sweep may also have made room for other waiters than the canceled one.
if result > 0 or used < used_before then
  admit_waiters(false, nil, permits(ARGV[5]), was_head)
end
return result
