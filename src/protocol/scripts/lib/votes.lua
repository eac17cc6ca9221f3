-- Shared by the steps of a quorum's read-write locks: the votes of this server. KEYS[1] is a hash
-- of `<weight> <proposal> <end of the lease in ms>` by owner token. A reader weighs 1, a writer all
-- of the lock. Each step reads the whole hash, so its cost grows with the number of readers. Needs
-- fence.lua and refusal.lua.

local WHOLE = 1073741824
local NOW_US = now_us()
local NOW = math.floor(NOW_US / 1000)
local FOUND = redis.pcall('HGETALL', KEYS[1])
local PROBLEM = refusal(FOUND, 'hgetall')
if PROBLEM then return PROBLEM end
-- Whether the key is neither free nor of this kind. No step changes such a key.
local IS_FOREIGN = FOUND.err ~= nil

-- The votes in force, by owner token, and the owners of expired ones.
local votes, over, last_end = {}, {}, NOW
for i = 1, #FOUND, 2 do
  local weight, proposal, ends = string.match(FOUND[i + 1], '^(%d+) (%d+) (%d+)$')
  ends = tonumber(ends)
  if not ends then
    IS_FOREIGN = true
  elseif ends < NOW then
    over[#over + 1] = FOUND[i]
  else
    votes[FOUND[i]] = {weight = tonumber(weight), proposal = tonumber(proposal), ends = ends}
    last_end = math.max(last_end, ends)
  end
end

-- The highest proposal of the votes that exclude this weight, and the ms until the last of their
-- leases ends; nil without such votes.
local function excluded_by(owner, weight)
  local proposal, left
  for other, vote in pairs(votes) do
    if other ~= owner and (weight == WHOLE or vote.weight == WHOLE) then
      proposal = math.max(proposal or 0, vote.proposal)
      left = math.max(left or 0, vote.ends - NOW)
    end
  end
  return proposal, left
end

local function keep(owner, weight, proposal, ends)
  redis.call('HSET', KEYS[1], owner, string.format('%.0f %.0f %.0f', weight, proposal, ends))
  redis.call('PEXPIRE', KEYS[1], math.max(last_end, ends) - NOW + 1)
end
