-- Releases a hold of a `shared` lock and lets in those who wait and now have room. Only its owner
-- can.
--
-- KEYS  1 holders, 2 fence, 3 queue, 4 permits (a semaphore only)
-- ARGV  1 owner token, 2 unused, 3 `force` when somebody else asks, who does not know the weight:
--       its owner is told; 4 weight, 5 permits if the server knows none
-- Reply 1 released, 2 released and somebody was let in, 0 not the owner (any more) (hazard 17)

-- #include "fence.lua"
-- #include "refusal.lua"
-- #include "holders.lua"

if IS_FOREIGN then return 0 end
sweep()
local is_forced = ARGV[3] == 'force'
local is_owner = is_forced and drop_all_of(ARGV[1]) or drop_hold(tonumber(ARGV[4]), ARGV[1])
if redis.call('LLEN', KEYS[3]) == 0 and not is_forced then
  return is_owner and 1 or 0
end

-- Here, so that the common case does without.
-- #include "inbox.lua"
-- #include "unsettled.lua"
-- #include "admission.lua"

local count = let_in(false, nil, permits(ARGV[5]))
if is_owner and is_forced then tell(ARGV[1], 'R') end
return is_owner and (count > 0 and 2 or 1) or 0
