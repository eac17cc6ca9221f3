-- Shared by the steps of a quorum's servers: for which proposals one may vote. Needs fence.lua.

-- Proposals are times in us. One may be so far ahead of the server's clock, and is kept twice as
-- long, in ms: what has been forgotten is then below the clock by this at least.
local AHEAD = 3600000

-- The error to end the step with while the server may have forgotten votes (hazard 11).
local function quarantine_error(key)
  local left = redis.call('PTTL', key)
  return left > 0 and redis.error_reply('QUARANTINE ' .. left) or nil
end

-- The same where the proposal is too far ahead of the server's clock.
local function clock_error(proposal, now)
  if proposal <= now + AHEAD * 1000 then return nil end
  return redis.error_reply('CLOCK ' .. string.format('%.0f', now))
end

-- The highest proposal that the server has voted for, as far as it knows: for those that it has
-- forgotten the fence counter stands, which is lifted to the server's clock whenever a client
-- connects, and after a restart to the end of the quarantine.
local function highest_proposal(ballot, fence, now)
  local known = tonumber(redis.call('GET', ballot) or nil)
  if known then return known end
  local seeded = tonumber(redis.call('GET', fence) or nil) or 0
  return math.max(now - AHEAD * 1000, seeded)
end
