-- Shared by the steps of `shared`: how those who wait are let in. Needs holders.lua.

-- Lets in those at the head of the queue for whom there is room, together, and tells each; the state
-- is written before the messages go out. Whoever is let in at once shares one fencing token, which
-- is above that of all who held before. `caller` (or false) is an entry that needs no message because
-- it reads this reply; it gets a lease until `caller_end` at once instead of the short lease of a
-- grant that nobody has confirmed. A head for whom there is no room is told when to look, if the head
-- has changed or `asks_head`; the dead, who hear nothing, are passed over. Returns how many were let
-- in, and the token.
local function let_in(caller, caller_end, limit, asks_head)
  local count, last = 0, nil
  local head = redis.call('LINDEX', KEYS[3], 0)
  while head do
    local weight, owner = split(head)
    if weight > limit then
      -- More than there is since the number of permits was lowered: it asks again, and hears.
      tell(owner, 'N 0')
    elseif used + weight <= limit then
      last = last or draw(1)
      take(head, head == caller and caller_end or NOW + (string.match(owner, '%d+$') or 1))
      if head == caller or tell(owner, string.format('G %.0f %.0f 0', last, NOW_US)) > 0 then
        count = count + 1
      else
        drop(head)
      end
    elseif head == caller or not asks_head or tell(owner, 'N ' .. next_end()) > 0 then
      break
    end
    redis.call('LPOP', KEYS[3])
    asks_head = true
    head = redis.call('LINDEX', KEYS[3], 0)
  end
  return count, last
end
