--- A queue of events. `_async` calls end on it, and watched handles report losses on it. `fd()` is
-- for an event loop.
local change = require "mortise.change"
local core = require "mortise.core"
local handle = require "mortise.handle"
local leader_of = require "mortise.leader"

local queue = handle.class("queue", core.queue_free)

-- The owners with an upgrade that ends on this queue.
function queue.prepare(object)
  object.upgrades = setmetatable({}, {__mode = "k"})
end

queue.fd = handle.method(core.queue_fd)

-- The next event is filled in here, and read at once.
local filled = core.event_new()

-- The begin and the end of waits and holds.
local OF_LOCK = {
  [core.EVENT_WAIT_BEGAN] = true, [core.EVENT_WAIT_FAILED] = true, [core.EVENT_HOLD_BEGAN] = true,
  [core.EVENT_HOLD_CHANGED] = true, [core.EVENT_HOLD_ENDED] = true,
}

local function read(event)
  local status = core.event_status(event)
  local result = {
    kind = core.event_kind(event),
    tag = core.event_tag(event),
    status = status,
    token = core.event_token(event),
    hold_number = core.event_hold_number(event),
  }
  local reason = core.event_reason(event)
  if reason ~= core.REASON_NONE then result.reason = reason end
  local is_line = result.kind == core.EVENT_LOG
  local is_wanted = result.kind == core.EVENT_CONTENDED or OF_LOCK[result.kind]
  if OF_LOCK[result.kind] then
    result.lock_kind = core.event_lock_kind(event)
    result.handle_number = core.event_handle_number(event)
    result.time_us = core.event_time_us(event)
    result.lasted_us = core.event_lasted_us(event)
    result.dropped_records = core.event_dropped_records(event)
  end
  if is_line then
    result.level = core.event_log_level(event)
    result.subject = core.event_log_subject(event)
    result.dropped_records = core.event_dropped_records(event)
  end
  if result.kind == core.EVENT_LEADER or result.kind == core.EVENT_NO_LEADER then
    local answer = core.info_new()
    if core.event_leader(event, answer) then result.leader = leader_of(answer) end
  end
  if status ~= core.OK or result.reason or is_line or is_wanted then
    local message = core.event_message(event)
    result.message = message ~= "" and message or core.status_text(status)
    local name = core.event_lock_name(event)
    if name ~= "" then result.lock_name = name end
  end
  if status < 0 or status == core.LOST then
    result.details = {
      reason = reason,
      lock_name = result.lock_name,
      server_text = core.event_server_text(event),
      is_retryable = core.event_is_retryable(event),
      is_ambiguous = core.event_is_ambiguous(event),
    }
  end
  return result
end

-- As `next`, but misuse is also returned.
function queue:take(timeout_ms)
  local is_ok, message, code, details = core.queue_next(handle.unwrap(self), timeout_ms, filled)
  if is_ok then
    local event = read(filled)
    if event.kind == core.EVENT_UPGRADED and event.status == core.OK then
      change.upgraded(self.upgrades)
    end
    return event
  end
  return nil, message, code, details
end

--- Returns the oldest event. Waits for it for at most `timeout_ms`. An event is a table with kind,
-- tag, status, token and hold_number. It may also have message, lock_name, reason and details. A
-- log record also has level, subject and dropped_records, the number of dropped records. An event
-- of an observed election has leader, unless nobody leads. An event of a wait or a hold has
-- lock_kind, handle_number, time_us, lasted_us and dropped_records. Without an
-- event it returns nil, message, code: TIMED_OUT, or SHUT_DOWN once the queue is drained.
function queue:next(timeout_ms)
  local event, message, code, details = queue.take(self, timeout_ms)
  if event then return event end
  if code == core.INVALID_ARGUMENT then error(message, 2) end
  return nil, message, code, details
end

-- These two return nothing, so the only result to check is misuse. In C they accept NULL.
for _, name in ipairs {"wake", "shutdown"} do
  local call = core["queue_" .. name]
  queue[name] = function(self)
    if self == nil then error("queue has to be of type queue, not nil", 2) end
    local _, message = call(handle.unwrap(self))
    if message then error(message, 2) end
  end
end

return queue
