-- Shared by the steps of `shared`: how those who wait are let in. Needs holders.lua.

-- Lets in those at the head of the queue for whom there is room, together, and tells each; the state
-- is written before the messages go out. Whoever is let in at once shares one fencing token, which
-- is above that of all who held before. `caller` (or false) is an entry that needs no message because
-- it reads this reply; it gets a lease until `caller_end` at once instead of the short lease of a
-- grant that nobody has confirmed. `has_moved` when the head has just left. Returns how many were
-- let in, and the token.
local function let_in(caller, caller_end, limit, has_moved)
  local count, last = 0, nil
  local head = redis.call('LINDEX', KEYS[3], 0)
  while head do
    local weight, owner = split(head)
    -- More than there is since the number of permits was lowered: it is told to ask again, and hears.
    local is_too_much = weight > limit
    if not is_too_much and in_use() + weight > limit then break end
    redis.call('LPOP', KEYS[3])
    has_moved = true
    if is_too_much then
      tell(owner, 'N 0')
    else
      last = last or draw(1)
      local ends = head == caller and caller_end or NOW + (string.match(owner, '%d+$') or 1)
      take(head, ends)
      if head == caller or tell(owner, string.format('G %.0f %.0f 0', last, NOW_US)) > 0 then
        count = count + 1
      else
        drop(head)  -- nobody hears for it: it is dead
      end
    end
    head = redis.call('LINDEX', KEYS[3], 0)
  end
  -- The new head is told when to look; a dead one is passed over.
  while has_moved and head do
    local _, owner = split(head)
    if tell(owner, 'N ' .. string.format('%.0f', next_end())) > 0 then break end
    redis.call('LPOP', KEYS[3])
    head = redis.call('LINDEX', KEYS[3], 0)
  end
  return count, last
end
