-- Changes the number of permits of a semaphore, for all its users. Present holds stay. Waiters are
-- admitted as far as there is room. While more permits are in use, holders that give way are
-- notified as of a waiter: otherwise a client that retains permits would take them up again.
--
-- KEYS  1 holders, 2 fence, 3 queue, 4 permits
-- ARGV  1 unused, 2 unused, 3 unused, 4 unused, 5 permits
-- Reply the number of permits before, or 0 when the server had none
-- Error FOREIGN when the key has a foreign value; no change.

-- #include "foreign/foreign.lua"
-- #include "fence.lua"
-- #include "inbox.lua"
-- #include "refusal.lua"
-- #include "kind.lua"
-- #include "holders.lua"
-- #include "grace_period.lua"
-- #include "grace.lua"
-- #include "admission.lua"

if IS_FOREIGN then return foreign(KIND) end
local before = tonumber(redis.call('GET', KEYS[4]) or nil)
-- Also valid for a day after the last of the present holds.
local left = math.max(0, redis.call('PTTL', KEYS[1]))
redis.call('SET', KEYS[4], ARGV[5], 'PX', left + PERMITS_LIFE)
sweep()
admit_waiters(false, nil, tonumber(ARGV[5]))
if used > tonumber(ARGV[5]) then notify_holders() end
return before or 0
