-- Shared by the steps of a quorum's servers: for which proposals one may vote. Needs fence.lua.

-- Proposals are times in us. One may be so far ahead of the server's clock, and is kept twice as
-- long, in ms: what has been forgotten is then below the clock by this at least.
local AHEAD = 3600000

-- When the quarantine of the server's last restart ends or has ended, by its clock in us; 0 where
-- no vote of before a restart counts any more.
local function quarantine_end(noted)
  return tonumber(noted or nil) or 0
end

-- The error to end the step with while the server may have forgotten votes (hazard 11).
local function quarantine_error(ends, now)
  if ends <= now then return nil end
  return redis.error_reply('QUARANTINE ' .. string.format('%.0f', math.ceil((ends - now) / 1000)))
end

-- The same where the proposal is too far ahead of the server's clock.
local function clock_error(proposal, now)
  if proposal <= now + AHEAD * 1000 then return nil end
  return redis.error_reply('CLOCK ' .. string.format('%.0f', now))
end

-- The highest proposal that the server has voted for, as far as it knows. For those that it has
-- forgotten stands the fence counter, which is lifted to the server's clock whenever a client
-- connects. The end of the quarantine stands for those that a restart has forgotten. It counts also
-- next to a ballot, which can be one of an old snapshot (hazard 30).
local function highest_proposal(ballot, read_fence, quarantine_ends, now)
  local known = tonumber(ballot or nil)
  if not known then
    local seeded = tonumber(read_fence() or nil) or 0
    known = math.max(now - AHEAD * 1000, seeded)
  end
  return math.max(known, quarantine_ends)
end
