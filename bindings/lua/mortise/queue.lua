--- Where `_async` calls end and watched handles tell of losses; `fd()` is for an event loop.
local core = require "mortise.core"
local handle = require "mortise.handle"

local queue = handle.class("queue", core.queue_free)

queue.fd = handle.method(core.queue_fd)

local function read(event)
  local status = core.event_status(event)
  local result = {
    kind = core.event_get_kind(event),
    tag = core.event_tag(event),
    status = status,
    token = core.event_token(event),
  }
  if status ~= core.OK then
    local message = core.event_message(event)
    result.message = message ~= "" and message or core.status_text(status)
  end
  if status < 0 then
    result.details = {
      server_text = core.event_server_text(event),
      is_retryable = core.event_is_retryable(event),
      is_ambiguous = core.event_is_ambiguous(event),
    }
  end
  return result
end

--- The oldest event, after at most `timeout_ms`: a table with kind, tag, status, token, and if need
-- be message and details. Or nil, message, code: TIMED_OUT, or SHUT_DOWN once it is drained.
function queue:next(timeout_ms)
  self.event = self.event or core.event_new()
  local is_ok, message, code, details = core.queue_next(self.handle, timeout_ms, self.event)
  if is_ok then return read(self.event) end
  if code == core.INVALID_ARGUMENT then error(message, 2) end
  return nil, message, code, details
end

-- These two give nothing, so there is nothing but misuse to look for.
for _, name in ipairs {"wake", "shutdown"} do
  local call = core["queue_" .. name]
  queue[name] = function(self)
    local _, message = call(self.handle)
    if message then error(message, 2) end
  end
end

return queue
