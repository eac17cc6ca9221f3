--- Upgrade and downgrade. They change the mode of a hold and of its hold object, so that the end of
-- a block ends the changed hold.
local core = require "mortise.core"
local handle = require "mortise.handle"
local hold = require "mortise.hold"

local change = {}

-- Gives the owner's current hold this token, by default the owner's, and this ending. The hold
-- number stays the same.
local function made(owner, ending, token)
  local calls, c_owner = owner.calls, owner.handle
  local number = calls.hold_number(c_owner)
  token = token or calls.token(c_owner)
  for each in pairs(owner.holds) do
    if each.number == number and not each.is_over then each.token, each.ending = token, ending end
  end
end

-- A downgrade takes effect as soon as it is accepted, whatever the server replies.
local function settle(owner)
  local calls, c_owner = owner.calls, owner.handle
  -- In this order: an upgrade may succeed after the modes were read. Its token is that of a writer.
  local token = calls.token(c_owner)
  if calls.is_reading(c_owner) and not calls.is_writing(c_owner) then
    made(owner, "read_unlock_hold", token)
  end
end

-- Returns the hold that a change has led to, by its event if there is one. If the program has no
-- hold object, it makes a new one.
local function changed_hold(owner, ending, event)
  local number = event and event.hold_number or owner.calls.hold_number(owner.handle)
  for each in pairs(owner.holds) do
    if each.number == number and each.ending == ending and not each.is_over then return each end
  end
  return hold.new(owner, ending, event)
end

local function changing(call, ending)
  return function(self, ...)
    local is_ok, message, code, details = call(handle.unwrap(self), ...)
    if is_ok then
      made(self, ending)
      return changed_hold(self, ending)
    end
    if code == core.INVALID_ARGUMENT then error(message, 2) end
    settle(self)
    return nil, message, code, details
  end
end

-- An upgrade changes the hold when its event is taken from the queue, or earlier when the hold is
-- queried.
local function begun(owner, queue)
  settle(owner)
  queue.upgrades[owner] = true
end

local function beginning(call)
  return function(self, queue, ...)
    local is_ok, message, code, details = call(handle.unwrap(self), handle.unwrap(queue), ...)
    if is_ok then
      begun(self, queue)
      return true
    end
    if code == core.INVALID_ARGUMENT then error(message, 2) end
    return nil, message, code, details
  end
end

--- For a queue: an upgrade has succeeded. `owners` are the owners that began an upgrade with this
-- queue.
function change.upgraded(owners)
  for owner in pairs(owners) do
    local is_upgraded = false
    for each in pairs(owner.is_closed and {} or owner.holds) do
      if not each.is_over and hold.follow_upgrade(each) then is_upgraded = true end
    end
    if is_upgraded or owner.is_closed then owners[owner] = nil end
  end
end

--- Adds methods to a class of owners. `changes` names for each method the function that ends the
-- changed hold.
function change.add(class, prefix, changes)
  function class.prepare(object)
    object.holds = setmetatable({}, {__mode = "k"})
  end

  local begin, hold_of = class.begin, class.hold_of
  for name, ending in pairs(changes) do
    local async, call = name .. "_async", core[prefix .. "_" .. name]
    local call_async = core[prefix .. "_" .. async]
    class[name], class.calls[name] = changing(call, ending), call
    class[async], class.calls[async] = beginning(call_async), call_async
  end

  function class.begin(self, method, queue, ...)
    local is_ok, message, code, details = begin(self, method, queue, ...)
    if is_ok and changes[method] then begun(self, queue) end
    return is_ok, message, code, details
  end

  function class.hold_of(self, method, event)
    local ending = changes[method]
    if ending then return changed_hold(self, ending, event) end
    return hold_of(self, method, event)
  end
end

return change
