--- Upgrade and downgrade: what is held becomes something else, and its hold object becomes so with
-- it, so that the end of a block ends what is held then.
local core = require "mortise.core"
local handle = require "mortise.handle"
local hold = require "mortise.hold"

local change = {}

-- What the owner held with the token `before` has the owner's token and this ending from now on.
local function made(owner, before, ending)
  local token = owner.calls.token(owner.handle)
  for each in pairs(owner.holds) do
    if each.token == before and not each.is_over then each.token, each.ending = token, ending end
  end
end

-- A downgrade has been made as soon as it is accepted, whatever the server answers.
local function settle(owner, before)
  local calls, c_owner = owner.calls, owner.handle
  if calls.is_reading(c_owner) and not calls.is_writing(c_owner) then
    made(owner, before, "read_unlock")
  end
end

-- The hold that a change has led to; a new one where the program has none.
local function changed_hold(owner, ending)
  local token = owner.calls.token(owner.handle)
  for each in pairs(owner.holds) do
    if each.token == token and each.ending == ending and not each.is_over then return each end
  end
  return hold.new(owner, ending)
end

local function changing(call, token, ending)
  return function(self, ...)
    local before = token(handle.unwrap(self))
    local is_ok, message, code, details = call(handle.unwrap(self), ...)
    if is_ok then
      made(self, before, ending)
      return changed_hold(self, ending)
    end
    if code == core.INVALID_ARGUMENT then error(message, 2) end
    settle(self, before)
    return nil, message, code, details
  end
end

-- An upgrade is made of the hold when its event is taken from the queue.
local function begun(owner, queue, before)
  settle(owner, before)
  owner.upgrading = before
  queue.upgrades[owner] = true
end

local function beginning(call, token)
  return function(self, queue, ...)
    local before = token(handle.unwrap(self))
    local is_ok, message, code, details = call(handle.unwrap(self), handle.unwrap(queue), ...)
    if is_ok then
      begun(self, queue, before)
      return true
    end
    if code == core.INVALID_ARGUMENT then error(message, 2) end
    return nil, message, code, details
  end
end

--- For a queue: an upgrade has ended well. `owners` are those whose upgrades were begun there.
function change.upgraded(owners, event)
  for owner in pairs(owners) do
    if not owner.is_closed and owner:token() == event.token then
      made(owner, owner.upgrading, "write_unlock")
      owner.upgrading, owners[owner] = nil, nil
    end
  end
end

--- Adds methods to a class of owners. `changes` says for each by which method the hold ends then.
function change.add(class, prefix, changes)
  function class.prepare(object)
    object.holds = setmetatable({}, {__mode = "k"})
  end

  local begin, hold_of, token = class.begin, class.hold_of, class.calls.token
  for name, ending in pairs(changes) do
    local async, call = name .. "_async", core[prefix .. "_" .. name]
    local call_async = core[prefix .. "_" .. async]
    class[name], class.calls[name] = changing(call, token, ending), call
    class[async], class.calls[async] = beginning(call_async, token), call_async
  end

  function class.begin(self, method, queue, ...)
    local before = token(self.handle)
    local is_ok, message, code, details = begin(self, method, queue, ...)
    if is_ok and changes[method] then begun(self, queue, before) end
    return is_ok, message, code, details
  end

  function class.hold_of(self, method)
    local ending = changes[method]
    if ending then return changed_hold(self, ending) end
    return hold_of(self, method)
  end
end

return change
