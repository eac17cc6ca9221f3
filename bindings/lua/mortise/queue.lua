--- Where `_async` calls end and watched handles tell of losses; `fd()` is for an event loop.
local change = require "mortise.change"
local core = require "mortise.core"
local handle = require "mortise.handle"

local queue = handle.class("queue", core.queue_free)

-- The owners whose upgrades will end here.
function queue.prepare(object)
  object.upgrades = setmetatable({}, {__mode = "k"})
end

queue.fd = handle.method(core.queue_fd)

-- What is next is filled in here, and read at once.
local filled = core.event_new()

local function read(event)
  local status = core.event_status(event)
  local result = {
    kind = core.event_get_kind(event),
    tag = core.event_tag(event),
    status = status,
    token = core.event_token(event),
    hold_number = core.event_hold_number(event),
  }
  local reason = core.event_reason(event)
  if reason ~= core.REASON_NONE then result.reason = reason end
  local is_line = result.kind == core.EVENT_LOG
  if is_line then
    result.level = core.event_log_level(event)
    result.subject = core.event_log_subject(event)
    result.left_out = core.event_left_out(event)
  end
  if status ~= core.OK or result.reason or is_line then
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

--- As `next`, but misuse is returned, too.
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

--- The oldest event, after at most `timeout_ms`: a table with kind, tag, status, token,
-- hold_number, and if need be message, lock_name, reason and details; of a line of the log also
-- level, subject and left_out. Or nil, message, code: TIMED_OUT, or SHUT_DOWN once it is drained.
function queue:next(timeout_ms)
  local event, message, code, details = queue.take(self, timeout_ms)
  if event then return event end
  if code == core.INVALID_ARGUMENT then error(message, 2) end
  return nil, message, code, details
end

-- These two give nothing, so there is nothing but misuse to look for. In C they allow for NULL.
for _, name in ipairs {"wake", "shutdown"} do
  local call = core["queue_" .. name]
  queue[name] = function(self)
    if self == nil then error("queue has to be of type queue, not nil", 2) end
    local _, message = call(handle.unwrap(self))
    if message then error(message, 2) end
  end
end

return queue
