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

-- How many events `dispatch` serves at once, so that under load the loop gets to its other work.
local MOST_EVENTS = 256

-- The tag of calls whose end nobody waits for.
local UNREAD = 0

-- How a coroutine sleeps and is woken where nothing else runs coroutines.
local function park()
  local sleeper = coroutine.running()
  return coroutine.yield, function()
    local is_fine, message = coroutine.resume(sleeper)
    if not is_fine then error(message, 0) end
  end
end

-- Whether a coroutine can sleep here. To be asked before a call is made: afterwards nobody would be
-- there to take what it gives.
local can_sleep = coroutine.isyieldable or function() -- luacheck: ignore 143
  local running, is_main = coroutine.running()
  if not running or is_main then return false end
  if _VERSION ~= "Lua 5.1" then return true end
  -- There a function in C, such as pcall, lets nobody below it yield.
  for level = 2, math.huge do
    local info = debug.getinfo(level, "S")
    if not info or info.what == "C" then return info == nil end
  end
end

--- `loop_park` is for a loop with its own idea of sleeping: called in a coroutine, it gives two
-- functions, one that puts this coroutine to sleep and one that wakes it. A third one, for a loop
-- with its own coroutines, says whether the sleeper is gone, so that nobody would be woken.
function dispatcher.new(client, loop_park)
  local new_queue = type(client) == "table" and client.queue
  if not new_queue then error("client has to be of type client, not " .. type(client), 2) end
  local queue, message, code, details = new_queue(client)
  if not queue then return nil, message, code, details end
  return setmetatable({queue = queue, park = loop_park or park, last_tag = 0, sleepers = {},
                       watchers = {}, watched = setmetatable({}, {__mode = "k"})}, dispatcher)
end

--- A descriptor that is readable while there is something to dispatch.
function dispatcher:fd()
  return self.queue:fd()
end

local function new_tag(self)
  self.last_tag = self.last_tag + 1
  return self.last_tag
end

-- Begins a call and sleeps until it has ended. Misuse is returned, too: only `await` knows whose
-- line to blame.
local function sleep_through(self, object, method, ...)
  local tag = new_tag(self)
  local sleep, wake, is_gone = self.park()
  local is_accepted, message, code, details = object:begin(method, self.queue, tag, ...)
  if not is_accepted then return nil, message, code, details end

  -- No functions of this one, whose variables may be gone with the coroutine.
  local sleeper = {object = object, method = method, wake = wake, is_gone = is_gone,
                   thread = not is_gone and coroutine.running()}
  self.sleepers[tag] = sleeper
  -- Somebody else may wake us, too.
  while not sleeper.event do sleep() end
  local event = sleeper.event
  if event.status ~= core.OK then return nil, event.message, event.status, event.details end
  return object:hold_of(method, event) or true
end

--- Calls a method of a lock or a hold, one that has an `_async` form or is a `with`, and lets other
-- coroutines run until it has ended. Gives what the method gives.
function dispatcher:await(object, method, ...)
  local is_ours = type(object) == "table" and object.begin
  local acquire, fn = is_ours and object.blocks and object.blocks[method], (...)
  if not is_ours or not acquire and not object.calls[tostring(method) .. "_async"] then
    error(("there is no %s to await"):format(tostring(method)), 2)
  end
  if acquire and type(fn) ~= "function" then
    error("fn has to be a function, not " .. type(fn), 2)
  end
  if not can_sleep() then error("await has to be called where a coroutine can yield", 2) end

  local value, message, code, details
  if acquire then
    value, message, code, details = sleep_through(self, object, acquire, select(2, ...))
  else
    value, message, code, details = sleep_through(self, object, method, ...)
  end
  if code == core.INVALID_ARGUMENT then error(message, 2) end
  if value == nil then return nil, message, code, details end
  if not acquire then return value end
  return hold.run(value, fn, function()
    local is_released, problem, outcome = sleep_through(self, value, "unlock")
    -- A queue that is full or was shut down takes no call; then without it.
    if not value.is_over then return value:unlock() end
    return is_released, problem, outcome
  end)
end

--- Calls fn with each event that tells of a loss or a risk of this lock. Replaces an earlier
-- watch; without fn it only ends it.
function dispatcher:watch(owner, fn)
  local watch = type(owner) == "table" and owner.calls and owner.calls.watch
  if not watch then error(tostring(owner) .. " cannot be watched", 2) end
  if fn ~= nil and type(fn) ~= "function" then
    error("fn has to be a function, not " .. type(fn), 2)
  end
  local tag = new_tag(self)
  local is_ok, message, code, details = watch(owner.handle, fn and self.queue.handle, tag)
  if code == core.INVALID_ARGUMENT then error(message, 2) end
  if not is_ok then return nil, message, code, details end
  self.watchers[self.watched[owner] or tag] = nil
  self.watched[owner], self.watchers[tag] = tag, fn
  return true
end

-- ---- waking ---------------------------------------------------------------------------------

-- Whether whoever waited was closed.
local function is_closed(sleeper)
  if sleeper.is_gone then return sleeper.is_gone() end
  return coroutine.status(sleeper.thread) == "dead"
end

-- A grant that nobody takes is not to stay.
local function give_back(self, sleeper)
  local unwanted = sleeper.object:hold_of(sleeper.method, sleeper.event)
  if unwanted then unwanted:begin("unlock", self.queue, UNREAD) end
end

local function serve(self, event)
  local sleeper, watcher = self.sleepers[event.tag], self.watchers[event.tag]
  if watcher then watcher(event) end
  if not sleeper then return end
  self.sleepers[event.tag] = nil
  sleeper.event = event
  if not is_closed(sleeper) then
    -- What the coroutine drops is to be collected before it sleeps again.
    sleeper.object = nil
    sleeper.wake()
  elseif event.status == core.OK then
    give_back(self, sleeper)
  end
end

--- Wakes those whose events have come, after waiting for the first for at most `timeout_ms`, 0
-- unless given. Gives the number of events, of which it serves at most 256: `fd()` stays readable
-- while there are more. Or nil, message, code: SHUT_DOWN after `close`.
function dispatcher:dispatch(timeout_ms)
  local count = 0
  while count < MOST_EVENTS do
    local event, message, code = self.queue:take(count == 0 and timeout_ms or 0)
    if not event then
      if code == core.INVALID_ARGUMENT then error(message, 2) end
      if code == core.TIMED_OUT or count > 0 then return count end
      return nil, message, code
    end
    count = count + 1
    serve(self, event)
  end
  return count
end

--- Whether no coroutine waits here.
function dispatcher:is_idle()
  return next(self.sleepers) == nil
end

--- Ends what still waits, as CANCELLED, and frees the queue.
function dispatcher:close()
  if self.queue.is_closed then return end
  self.queue:shutdown()
  while self:dispatch(1000) do end
  self.queue:close()
end

function dispatcher:__close()
  self:close()
end

return dispatcher
