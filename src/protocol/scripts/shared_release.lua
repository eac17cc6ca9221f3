-- Releases a hold of a `shared` lock and admits waiters that now have room. Only its owner can.
--
-- KEYS  1 holders, 2 fence, 3 queue, 4 permits (a semaphore only)
-- ARGV  1 owner token, 2 unused, 3 `force` in a request by another client, which does not know the
--       weight: notifies the owner; 4 weight, 5 permits if the server has none
-- Reply 1 released, 2 released and a waiter was admitted, 0 not (or no longer) the owner (hazard
--       17)
-- Error FOREIGN, with `force`, when the key has a foreign value; no change.

-- #include "kind.lua"

-- The common case, at the lowest cost for the server: without waiters. An owner's entry is unique
-- among owners and kinds of lock. An owner with all the weight in use is the only holder. The code
-- below handles all other cases and read errors.
local is_forced = ARGV[3] == 'force'
if not is_forced and redis.pcall('EXISTS', KEYS[3]) == 0 then
  local entry, weight = ARGV[4] .. ' ' .. ARGV[1], tonumber(ARGV[4])
  local counter = tonumber(redis.pcall('ZSCORE', KEYS[1], KIND))
  if counter == -weight then
    if redis.call('ZREM', KEYS[1], entry, KIND) == 2 then return 1 end
    redis.call('ZADD', KEYS[1], counter, KIND)  -- another's is as heavy
  elseif counter and redis.call('ZREM', KEYS[1], entry) == 1 then
    redis.call('ZADD', KEYS[1], counter + weight, KIND)
    return 1
  end
end

-- #include "foreign/foreign.lua"
-- #include "fence.lua"
-- #include "refusal.lua"
-- #include "holders.lua"

if IS_FOREIGN then return is_forced and foreign(KIND) or 0 end
sweep()
local is_owner = is_forced and drop_all_of(ARGV[1]) or drop_hold(tonumber(ARGV[4]), ARGV[1])
if redis.call('LLEN', KEYS[3]) == 0 and not is_forced then
  return is_owner and 1 or 0
end

-- Included after the common case, which does not need it.
-- #include "inbox.lua"
-- #include "grace_period.lua"
-- #include "grace.lua"
-- #include "admission.lua"

local count = admit_waiters(false, nil, permits(ARGV[5]))
if is_owner and is_forced then notify(ARGV[1], 'R') end
return is_owner and (count > 0 and 2 or 1) or 0
