-- Shared by the steps of `shared`: the admission of waiters, and the removal of dead ones. Needs
-- inbox.lua, holders.lua, grace_period.lua and grace.lua.

-- A head looks every second or two. After LATE ms of silence a script asks the head to look, once.
-- The head loses its place after ANSWER ms without a look, or after GONE ms of silence. So a slow
-- server costs a live head nothing, and one newcomer can pass a head that was silent for long. On a
-- server in its grace period a head is always asked first, because it may have just reconnected. A
-- TTL of the queue near ASKED marks that the head was asked.
local LATE, GONE, ANSWER = 2000, 5000, 1000
local ASKED = 330000

-- The owner token in an entry of the queue, `<weight> <waiter>`.
local function owner_of(entry)
  return (owner_in(select(2, split(entry))))
end

-- Whether the head keeps its place.
local function is_there(owner)
  if not is_heard(owner) then return grace_for() end
  local left = redis.call('PTTL', KEYS[3])
  local is_noted = left > QUEUE_LIFE
  if is_noted and left <= ASKED + ANSWER then return left > ASKED end
  -- A mark of a grace period: it lasts, or no waiter has looked since its end.
  local silent = (is_noted and GRACE or QUEUE_LIFE) - left
  if silent < LATE then return true end
  if silent >= GONE and not grace_left_ms() then return false end
  tell(owner, 'N 0')
  redis.call('PEXPIRE', KEYS[3], ASKED + ANSWER)
  return true
end

-- Removes a dead or silent head and all waiters of its client behind it, on behalf of `asker`,
-- which is connected. Returns whether the queue has a new head. let_in checks whether the new head
-- lives.
local function pass_the_gone(asker)
  local is_passed = end_grace(asker, owner_of)
  local head = redis.call('LINDEX', KEYS[3], 0)
  if not head or head == asker then return is_passed end
  local owner = owner_of(head)
  if is_there(owner) then return is_passed end
  local client = inbox(owner)
  while head and head ~= asker and inbox(owner) == client do
    redis.call('LPOP', KEYS[3])
    head = redis.call('LINDEX', KEYS[3], 0)
    if head then owner = owner_of(head) end
  end
  return true
end

-- Whether some waiters stay queued after the admission of all that have room, as 1 or 0. It is a
-- hint, because dead waiters are not known yet. It reads no more entries than needed, mostly one or
-- two, and must not fail.
local function others_stay(limit)
  local room, from, count = limit - used, 0, 2
  while true do
    local entries = redis.pcall('LRANGE', KEYS[3], from, from + count - 1)
    for _, entry in ipairs(entries) do
      room = room - split(entry)
      if room < 0 then return 1 end
    end
    if #entries < count then return 0 end
    from, count = from + count, count * 4
  end
end

-- Notifies holders that give way of the first waiter. Checks at most this many holders, because the
-- message is a hint.
local MANY = 100
local function tell_holders()
  for _, entry in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], NOW, '+inf', 'LIMIT', 0, MANY)) do
    local _, owner = split(entry)
    if gives_way(owner) then tell(owner, 'W') end
  end
end

-- Admits the waiters at the head of the queue that have room, together. Notifies each of its grant
-- and of remaining waiters. The state is written before the messages are sent. All waiters admitted
-- at once share one fencing token, which is above those of all earlier holders. `caller` (or false)
-- is an entry of the queue that needs no message because it reads this reply. It gets a lease until
-- `caller_end` at once instead of the short lease of an unconfirmed grant. A new head without room
-- is notified when to check again. Dead waiters, which receive no message, are removed, unless the
-- server is in its grace period. Returns the number of admitted waiters, the token, and whether
-- others wait.
local function let_in(caller, caller_end, limit, is_new_head)
  local count, last, others = 0, nil, 0
  is_new_head = end_grace(caller, owner_of) or is_new_head
  local head = redis.call('LINDEX', KEYS[3], 0)
  while head do
    local weight, waiter = split(head)
    local owner, ttl = owner_in(waiter)
    local entry = string.sub(head, 1, #owner - #waiter - 1)  -- without the secret
    if weight > limit or lease_end(entry) then
      -- The weight is above the lowered number of permits: the waiter repeats its request and gets
      -- an error. Or the entry holds already, and a late copy of its first request has enqueued it
      -- again (hazard 16): its weight would count twice.
      tell(owner, 'N 0')
    elseif used + weight <= limit then
      if not last then
        last, others = draw(1), others_stay(limit)
      end
      take(entry, head == caller and caller_end or NOW + ttl)
      local is_told = head == caller or
        tell_grant(waiter, string.format('G %.0f %.0f %d', last, NOW_US, others))
      local wait = not is_told and grace_for()
      -- After a reconnect the waiter finds the grant with its next request (hazard 24).
      if wait then keep(entry, NOW + math.max(wait, ttl)) end
      if is_told or wait then
        count = count + 1
      else
        drop(entry)
      end
    elseif head == caller or not is_new_head or tell(owner, 'N ' .. next_end()) > 0 or
        grace_left_ms() then
      if head == caller or is_new_head then renew_queue() end
      break
    end
    -- Read before the queue may be empty, as in handover.lua (hazard 29).
    local following = redis.call('LINDEX', KEYS[3], 1)
    redis.call('LPOP', KEYS[3])
    is_new_head = true
    head = following
  end
  return count, last, head and 1 or 0
end
