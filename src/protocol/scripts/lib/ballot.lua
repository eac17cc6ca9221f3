-- Shared by the steps of a quorum's servers: the valid proposals. Needs fence.lua.

-- Proposals are times in us. One may be this far ahead of the server's clock, in ms, and is kept
-- twice as long. So a forgotten proposal is at least this far below the clock.
local AHEAD = 3600000

-- The end of the quarantine of the server's last restart, by its clock in us; 0 when no vote of
-- before a restart counts.
local function quarantine_end(noted)
  return tonumber(noted or nil) or 0
end

-- The error of a step while the server may have forgotten votes (hazard 11).
local function quarantine_error(ends, now)
  if ends <= now then return nil end
  return redis.error_reply('QUARANTINE ' .. string.format('%.0f', math.ceil((ends - now) / 1000)))
end

-- The error of a step whose proposal is too far ahead of the server's clock.
local function clock_error(proposal, now)
  if proposal <= now + AHEAD * 1000 then return nil end
  return redis.error_reply('CLOCK ' .. string.format('%.0f', now))
end

-- The highest proposal that the server has voted for, as far as it knows. The fence counter stands
-- for forgotten proposals. Each connect lifts the counter to the server's clock. The end of the
-- quarantine stands for proposals that a restart lost. It also counts next to a ballot, which an
-- old snapshot may have restored (hazard 30).
local function highest_proposal(ballot, read_fence, quarantine_ends, now)
  local known = tonumber(ballot or nil)
  if not known then
    local seeded = tonumber(read_fence() or nil) or 0
    known = math.max(now - AHEAD * 1000, seeded)
  end
  return math.max(known, quarantine_ends)
end
