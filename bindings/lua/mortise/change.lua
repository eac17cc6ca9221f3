--- Upgrade and downgrade: what is held becomes something else, and its hold object becomes so with
-- it, so that the end of a block ends what is held then.
local core = require "mortise.core"
local handle = require "mortise.handle"
local hold = require "mortise.hold"

local change = {}

-- What the owner holds has the owner's token and this ending from now on; the number stays.
local function made(owner, ending)
  local calls, c_owner = owner.calls, owner.handle
  local number, token = calls.hold_number(c_owner), calls.token(c_owner)
  for each in pairs(owner.holds) do
    if each.number == number and not each.is_over then each.token, each.ending = token, ending end
  end
end

-- A downgrade has been made as soon as it is accepted, whatever the server answers.
local function settle(owner)
  local calls, c_owner = owner.calls, owner.handle
  if calls.is_reading(c_owner) and not calls.is_writing(c_owner) then
    made(owner, "read_unlock_hold")
  end
end

-- The hold that a change has led to, by its event if it has one; a new one where the program has
-- none.
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

-- An upgrade is made of the hold when its event is taken from the queue, or when the hold is asked
-- before.
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

--- For a queue: an upgrade has ended well. `owners` are those whose upgrades were begun there.
function change.upgraded(owners)
  for owner in pairs(owners) do
    local is_upgraded = false
    for each in pairs(owner.is_closed and {} or owner.holds) do
      if not each.is_over and hold.follow_upgrade(each) then is_upgraded = true end
    end
    if is_upgraded or owner.is_closed then owners[owner] = nil end
  end
end

--- Adds methods to a class of owners. `changes` says for each what ends the hold then.
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
