-- Shared by the steps of `shared`: the admission of waiters, and the removal of dead ones. Needs
-- inbox.lua, holders.lua, grace_period.lua and grace.lua.

-- A live head repeats its request every second or two. After ASK_AFTER ms of silence a script asks
-- the head for a request, once. The head loses its place after ANSWER_TIME ms without one, or after
-- DEAD_AFTER ms of silence. So a slow server costs a live head nothing, and one newcomer can pass a
-- head that was silent for long. On a server in its grace period a head is always asked first,
-- because it may have just reconnected. A TTL of the queue near ASKED marks that the head was
-- asked.
local ASK_AFTER, DEAD_AFTER, ANSWER_TIME = 2000, 5000, 1000
local ASKED = 330000

-- The owner token in an entry of the queue, `<weight> <waiter>`.
local function owner_of(entry)
  return (owner_in(select(2, split(entry))))
end

-- Whether the head keeps its place.
local function keeps_place(owner)
  if not has_subscriber(owner) then return unreachable_wait_ms() end
  local left = redis.call('PTTL', KEYS[3])
  local has_mark = left > QUEUE_LIFE
  if has_mark and left <= ASKED + ANSWER_TIME then return left > ASKED end
  -- Any other mark is one of a grace period, which lasts, or since whose end the head has sent
  -- nothing. Or the server's clock was set back: then the head is asked.
  local silent = (has_mark and GRACE or QUEUE_LIFE) - left
  if silent < ASK_AFTER and left <= GRACE + CHANGED then return true end
  if silent >= DEAD_AFTER and not has_mark and not server_grace_ms() then return false end
  notify(owner, 'N 0')
  redis.call('PEXPIRE', KEYS[3], ASKED + ANSWER_TIME)
  return true
end

-- Removes a dead or silent head and all waiters of its client behind it, on behalf of `asker`,
-- which is connected. Returns whether the queue has a new head. admit_waiters checks whether the
-- new head lives.
local function remove_dead_head(asker)
  local is_changed = end_grace(asker, owner_of)
  local head = redis.call('LINDEX', KEYS[3], 0)
  if not head or head == asker then return is_changed end
  local owner = owner_of(head)
  if keeps_place(owner) then return is_changed end
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
local function others_remain(limit)
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
local function notify_holders()
  for _, entry in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], NOW, '+inf', 'LIMIT', 0, MANY)) do
    local _, owner = split(entry)
    if gives_way(owner) then notify(owner, 'W') end
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
local function admit_waiters(caller, caller_end, limit, is_new_head)
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
      notify(owner, 'N 0')
    elseif used + weight <= limit then
      if not last then
        last, others = draw(1), others_remain(limit)
      end
      take(entry, head == caller and caller_end or NOW + ttl)
      local is_notified = head == caller or
        notify_grant(waiter, string.format('G %.0f %.0f %d', last, NOW_US, others))
      local wait_ms = not is_notified and unreachable_wait_ms()
      -- After a reconnect the waiter finds the grant with its next request (hazard 24).
      if wait_ms then keep(entry, NOW + math.max(wait_ms, ttl)) end
      if is_notified or wait_ms then
        count = count + 1
      else
        drop(entry)
      end
    elseif head == caller or not is_new_head or notify(owner, 'N ' .. next_end()) > 0 or
        server_grace_ms() then
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
