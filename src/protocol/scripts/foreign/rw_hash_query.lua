-- Reports the holders of a read-write lock of the `hash` format, as far as known. Holders of other
-- programs are unknown, so they count as one reader or one writer without a name. Changes nothing.
--
-- KEYS  1 lock, 2 fence, 3 note
-- ARGV  1 owner token of the requesting handle's hold, 2 unused, 3 unused, 4 weight, 5 and 6 the
--       lifetimes of reads and writes in ms
-- Reply {holders, rest of the longest lease in ms, newest token or nil, whether the requester is a
--       holder, number of holders, 0, {}, weight of the holders, weight of an exclusive hold}

-- #include "foreign/foreign.lua"
-- #include "refusal.lua"
-- #include "fence.lua"
-- #include "foreign/rw_hash.lua"

local wrong, problem = is_foreign()
if wrong then return problem or foreign('hash of a read-write lock') end
local WHOLE = 1073741824  -- the weight of a writer
local holders, is_mine, count, left = {}, 0, 0, -2
for _, field in ipairs({'write', 'read'}) do
  local time = began(field)
  local in_force = left_of(field, time)
  if in_force then
    local is_known, weight = false, field == 'read' and '^1 ' or '^' .. WHOLE .. ' '
    for _, entry in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], NOW - LIFETIME[field], '+inf')) do
      if string.find(entry, weight) then
        is_known = is_known or noted(entry) == time
        count = count + 1
        if #holders < 16 then holders[#holders + 1] = entry end
        if OWNER ~= '' and string.sub(entry, -#OWNER - 1) == ' ' .. OWNER then is_mine = 1 end
      end
    end
    if not is_known then
      count = count + 1
      if #holders < 16 then holders[#holders + 1] = string.sub(weight, 2) end
    end
    left = math.max(left, in_force)
  end
end
return {holders, left, redis.call('GET', KEYS[2]), is_mine, count, 0, {}, count, WHOLE}
