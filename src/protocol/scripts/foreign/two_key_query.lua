-- Reports the holders of a `two_key` read-write lock, as far as known. Holders of other programs
-- are unknown, so they count as one reader or one writer without a name. Changes nothing.
--
-- KEYS  1 read key, 2 fence, 3 write key, 4 note
-- ARGV  1 owner token of the requesting handle's hold, 2 unused, 3 unused, 4 weight
-- Reply {holders, rest of the longest lease in ms, newest token or nil, whether the requester is a
--       holder, number of holders, 0, {}, weight of the holders, weight of an exclusive hold}

-- #include "foreign/foreign.lua"
-- #include "refusal.lua"
-- #include "fence.lua"
-- #include "foreign/two_key.lua"

local wrong, problem = foreign_key()
if wrong then
  return problem or foreign('two_key', wrong, wrong == KEYS[3] and redis.call('TYPE', KEYS[3]))
end
local WHOLE = 1073741824  -- the weight of a writer
local reads, writes = ends_at(read_left), ends_at(write_left)
local holders, is_mine = {}, 0
local function add(entry)
  if #holders < 16 then holders[#holders + 1] = entry end
  if OWNER ~= '' and string.sub(entry, -#OWNER - 1) == ' ' .. OWNER then is_mine = 1 end
end
local count = 0
if writes then
  count = 1
  local own = redis.call('ZRANGEBYSCORE', KEYS[4], writes - 1, writes + 1)[1]
  add(own and string.match(own, '^%d+ .+') or WHOLE .. ' ')
elseif reads then
  for _, entry in ipairs(redis.call('ZRANGEBYSCORE', KEYS[4], NOW, '+inf')) do
    if string.find(entry, '^1 ') then
      count = count + 1
      add(entry)
    end
  end
  local theirs = noted('theirs')
  if not is_same(reads, noted('written')) or theirs and theirs >= NOW then
    count = count + 1
    add('1 ')
  end
end
local left = (writes and write_left or read_left)()
return {holders, left, redis.call('GET', KEYS[2]), is_mine, count, 0, {}, count, WHOLE}
