--- Waiting that lets other coroutines run. A dispatcher has a queue; a coroutine that calls `await`
-- sleeps until its event has come, and the event loop calls `dispatch` when `fd()` is readable.
--
--     local dispatcher = require("mortise.dispatcher").new(client)
--     local hold = dispatcher:await(lock, "acquire", 5000)   -- in a coroutine
--
-- The examples have the whole of it for luv and for cqueues.
local core = require "mortise.core"
local hold = require "mortise.hold"

local dispatcher = {}
dispatcher.__index = dispatcher
dispatcher.__name = "mortise.dispatcher"

-- How a coroutine sleeps and is woken where nothing else runs coroutines.
local function park()
  local sleeper = coroutine.running()
  return coroutine.yield, function()
    local is_fine, message = coroutine.resume(sleeper)
    if not is_fine then error(message, 0) end
  end
end

--- `loop_park` is for a loop with its own idea of sleeping: called in a coroutine, it gives two
-- functions, one that puts this coroutine to sleep and one that wakes it.
function dispatcher.new(client, loop_park)
  local queue, message, code, details = client:queue()
  if not queue then return nil, message, code, details end
  return setmetatable({queue = queue, park = loop_park or park, last_tag = 0, sleepers = {},
                       watchers = {}}, dispatcher)
end

--- A descriptor that is readable while there is something to dispatch.
function dispatcher:fd()
  return self.queue:fd()
end

local function new_tag(self)
  self.last_tag = self.last_tag + 1
  return self.last_tag
end

--- Calls a method of a lock, one that has an `_async` form, and lets other coroutines run until it
-- has ended. Gives what the method gives.
function dispatcher:await(owner, method, ...)
  local call = owner[method .. "_async"]
  if not call then error(("there is no %s to await"):format(tostring(method)), 2) end
  local tag = new_tag(self)
  local sleep, wake = self.park()
  local is_accepted, message, code, details = call(owner, self.queue, tag, ...)
  if not is_accepted then return nil, message, code, details end

  local sleeper = {wake = wake}
  self.sleepers[tag] = sleeper
  -- Somebody else may wake us, too.
  while not sleeper.event do sleep() end
  local event = sleeper.event
  if event.status ~= core.OK then return nil, event.message, event.status, event.details end
  local ending = owner.endings[method]
  return ending and hold.new(owner, ending) or true
end

--- Calls fn with each event that tells of a loss or a risk of this lock.
function dispatcher:watch(owner, fn)
  local tag = new_tag(self)
  local is_ok, message, code, details = owner:watch(self.queue, tag)
  if not is_ok then return nil, message, code, details end
  self.watchers[tag] = fn
  return true
end

--- Wakes everybody whose event has come, after waiting for the first for at most `timeout_ms`, 0
-- unless given. Gives the number of events, or nil, message, SHUT_DOWN after `close`.
function dispatcher:dispatch(timeout_ms)
  local count = 0
  while true do
    local event, message, code = self.queue:next(count == 0 and timeout_ms or 0)
    if not event then
      if code == core.TIMED_OUT or count > 0 then return count end
      return nil, message, code
    end
    count = count + 1
    local sleeper = self.sleepers[event.tag]
    if sleeper then
      self.sleepers[event.tag] = nil
      sleeper.event = event
      sleeper.wake()
    elseif self.watchers[event.tag] then
      self.watchers[event.tag](event)
    end
  end
end

--- Ends what still waits, as CANCELLED, and frees the queue.
function dispatcher:close()
  if self.queue.is_closed then return end
  self.queue:shutdown()
  while self:dispatch(1000) do end
  self.queue:close()
end
dispatcher.__close = dispatcher.close

return dispatcher
