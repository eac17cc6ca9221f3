--- Waiting that lets other coroutines run. A dispatcher has a queue. A coroutine that calls `await`
-- sleeps until its event arrives. The event loop calls `dispatch` when `fd()` is readable.
--
--     local dispatcher = require("mortise.dispatcher").new(client)
--     local hold = dispatcher:await(lock, "acquire", 5000)   -- in a coroutine
--
-- The examples show complete loops for luv and for cqueues.
local core = require "mortise.core"
local hold = require "mortise.hold"

local dispatcher = {}
dispatcher.__index = dispatcher
dispatcher.__name = "mortise.dispatcher"

-- How many events `dispatch` serves at once. Under load the loop also has to do its other work.
local MOST_EVENTS = 256

-- The tag of calls without a waiting coroutine.
local UNREAD = 0

-- How a coroutine sleeps and is woken without an event loop that runs coroutines.
local function park()
  local sleeper = coroutine.running()
  return coroutine.yield, function()
    local is_fine, message = coroutine.resume(sleeper)
    if not is_fine then error(message, 0) end
  end
end

-- Whether the current coroutine can sleep. Has to be checked before a call is made. Otherwise no
-- coroutine could take the result of the call.
local can_sleep = coroutine.isyieldable or function() -- luacheck: ignore 143
  local running, is_main = coroutine.running()
  if not running or is_main then return false end
  if _VERSION ~= "Lua 5.1" then return true end
  -- In Lua 5.1 a function in C, such as pcall, prevents all functions that it calls from yielding.
  for level = 2, math.huge do
    local info = debug.getinfo(level, "S")
    if not info or info.what == "C" then return info == nil end
  end
end

--- new(client [, loop_park]): makes a dispatcher. `loop_park` is for an event loop with its own way
-- to sleep. It is called in a coroutine and returns two functions: the first puts this coroutine to
-- sleep, the second wakes it. A loop with its own coroutines returns a third function. It reports
-- whether the sleeper has ended and can no longer be woken.
function dispatcher.new(client, loop_park)
  local new_queue = type(client) == "table" and client.queue
  if not new_queue then error("client has to be of type client, not " .. type(client), 2) end
  local queue, message, code, details = new_queue(client)
  if not queue then return nil, message, code, details end
  -- An owner keeps its watchers. A callback may mention its owner, and must not keep it from being
  -- collected.
  return setmetatable({queue = queue, park = loop_park or park, last_tag = 0, sleepers = {},
                       watchers = setmetatable({}, {__mode = "v"})}, dispatcher)
end

--- Returns a descriptor that is readable while there are events to dispatch.
function dispatcher:fd()
  return self.queue:fd()
end

local function new_tag(self)
  self.last_tag = self.last_tag + 1
  return self.last_tag
end

-- Begins a call and sleeps until it has ended. Misuse is also returned: only `await` knows the
-- caller's line.
local function sleep_through(self, object, method, ...)
  local tag = new_tag(self)
  local sleep, wake, is_gone = self.park()
  local is_accepted, message, code, details = object:begin(method, self.queue, tag, ...)
  if not is_accepted then return nil, message, code, details end

  -- Holds no closures of this function: their variables may end with the coroutine.
  local sleeper = {object = object, method = method, wake = wake, is_gone = is_gone,
                   thread = not is_gone and coroutine.running()}
  self.sleepers[tag] = sleeper
  -- Other code may also wake this coroutine.
  while not sleeper.event do sleep() end
  local event = sleeper.event
  if event.status ~= core.OK then return nil, event.message, event.status, event.details end
  return object:hold_of(method, event) or true
end

--- Calls a method of a lock or a hold, and lets other coroutines run until it has ended. The method
-- has an `_async` form or is a `with`. Returns what the method returns.
function dispatcher:await(object, method, ...)
  local is_ours = type(object) == "table" and object.begin
  local acquire, fn = is_ours and object.blocks and object.blocks[method], (...)
  if not is_ours or not acquire and not object.calls[tostring(method) .. "_async"] then
    error(("cannot await %s: no such asynchronous method"):format(tostring(method)), 2)
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
    -- A queue that is full or shut down accepts no call. Unlock without it.
    if not value.is_over then return value:unlock() end
    return is_released, problem, outcome
  end)
end

-- Replaces what an owner watches. `kind` is the name of the method.
local function replace_watcher(self, kind, owner, tag, fn)
  owner.watchers = owner.watchers or {}
  local earlier = owner.watchers[kind]
  -- A queue may still have events of it.
  if earlier then earlier.fn = nil end
  local watcher = fn and {fn = fn}
  owner.watchers[kind], self.watchers[tag] = watcher, watcher
end

--- Calls fn with each event about a loss or a risk of this lock, and with the option `contended`
-- about waiters. Replaces an earlier watch. Without fn it only ends the earlier watch. A closed or
-- collected lock reports nothing. A hold may be given in place of its lock. If the hold was lost
-- before, fn is called at once, and may be called again with an event of the same loss.
function dispatcher:watch(owner, fn)
  local held = getmetatable(owner) == hold and owner
  if held then owner = held.owner end
  local watch = type(owner) == "table" and owner.calls and owner.calls.watch
  if not watch then error("cannot watch " .. tostring(owner) .. "; give a lock", 2) end
  if fn ~= nil and type(fn) ~= "function" then
    error("fn has to be a function, not " .. type(fn), 2)
  end
  if held then
    local is_open, message, code = hold.owner_of(held)
    if not is_open then return nil, message, code end
  end
  local tag = new_tag(self)
  local is_ok, message, code, details = watch(owner.handle, fn and self.queue.handle, tag)
  if code == core.INVALID_ARGUMENT then error(message, 2) end
  if not is_ok then return nil, message, code, details end
  replace_watcher(self, "watch", owner, tag, fn)
  -- In this order: from now on an event reports a loss.
  local loss = held and fn and hold.loss_of(held, tag)
  if loss then fn(loss) end
  return true
end

--- Calls fn with each event of an observed election, whose field `leader` is the leader or nil.
-- Queries the server at this interval, 1000 by default. Replaces an earlier observation. Without fn
-- it only ends the earlier one.
function dispatcher:observe(election, fn, interval_ms)
  local observe = type(election) == "table" and election.calls and election.observe
  if not observe then error("cannot observe " .. tostring(election) .. "; give an election", 2) end
  if fn ~= nil and type(fn) ~= "function" then
    error("fn has to be a function, not " .. type(fn), 2)
  end
  local tag = new_tag(self)
  local is_ok, message, code, details = observe(election, fn and self.queue, tag, interval_ms)
  if not is_ok then return nil, message, code, details end
  replace_watcher(self, "observe", election, tag, fn)
  return true
end

-- ---- waking ---------------------------------------------------------------------------------

-- Whether the waiting coroutine was closed.
local function is_closed(sleeper)
  if sleeper.is_gone then return sleeper.is_gone() end
  return coroutine.status(sleeper.thread) == "dead"
end

-- Releases a grant without a waiting coroutine.
local function give_back(self, sleeper)
  local unwanted = sleeper.object:hold_of(sleeper.method, sleeper.event)
  if not unwanted then return end
  unwanted:begin("unlock", self.queue, UNREAD)
  -- A queue that is full or shut down accepts no call. Unlock without it.
  if not unwanted.is_over and not unwanted.owner.is_closed then unwanted:unlock() end
end

local function serve(self, event)
  local sleeper, watcher = self.sleepers[event.tag], self.watchers[event.tag]
  if watcher and watcher.fn then watcher.fn(event) end
  if not sleeper then return end
  self.sleepers[event.tag] = nil
  sleeper.event = event
  if not is_closed(sleeper) then
    -- Lets the collector take objects that the coroutine drops before it sleeps again.
    sleeper.object = nil
    sleeper.wake()
  elseif event.status == core.OK then
    give_back(self, sleeper)
  end
end

--- Wakes the coroutines whose events have arrived. Waits for the first event for at most
-- `timeout_ms`, 0 by default. Returns the number of served events, at most 256: `fd()` stays
-- readable while there are more. After `close` it raises an error.
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
    if self.queue.is_closed then break end -- by what was woken
  end
  return count
end

--- Returns whether no coroutine waits with this dispatcher.
function dispatcher:is_idle()
  return next(self.sleepers) == nil
end

--- Ends all waits with CANCELLED, and frees the queue.
function dispatcher:close()
  if self.queue.is_closed then return end
  self.queue:shutdown()
  -- A coroutine that is woken may also close it.
  while not self.queue.is_closed and self:dispatch(1000) do end
  self.queue:close()
end

function dispatcher:__close()
  self:close()
end

return dispatcher
