--- What an acquire gives: the right to one lock until it is unlocked or lost. On Lua 5.4
-- `local hold <close> = assert(lock:acquire())` unlocks at the end of the block, whatever happens.
local core = require "mortise.core"

local hold = {}
hold.__index = hold
hold.__name = "mortise.hold"

function hold.__tostring(self)
  return ("mortise.hold (%s)"):format(self.token and ("token %.0f"):format(self.token) or "multi")
end

--- `ending` is the name of the owner's method that ends this hold.
function hold.new(owner, ending)
  local new = setmetatable({owner = owner, ending = ending, token = owner.token and owner:token()},
                           hold)
  owner.latest = new
  return new
end

-- What the C layer's function for a method of the owner gives, or nil, message, code, as long as
-- this hold is the owner's. A handle that was acquired anew has a higher token, and a multi, which
-- has none, a later hold: that one is not ours to end.
local function ask(self, method, ...)
  if getmetatable(self) ~= hold then
    return nil, "hold has to be of type hold, not " .. type(self), core.INVALID_ARGUMENT
  end
  local owner, is_ours = self.owner, not self.is_over
  if is_ours and self.token then
    local token, message, code = owner.calls.token(owner.handle)
    if not token then return nil, message, code end
    is_ours = token <= self.token
  elseif is_ours then
    is_ours = owner.latest == self
  end
  if not is_ours then return nil, core.status_text(core.NOT_OWNER), core.NOT_OWNER end
  local call = owner.calls[method]
  if not call then return nil, tostring(self) .. " has no " .. method, core.INVALID_ARGUMENT end
  return call(owner.handle, ...)
end

-- The method that says whether there is a hold, by the one that ends it.
local IS_HELD = {unlock = "is_held", release = "is_held", read_unlock = "is_reading",
                 write_unlock = "is_writing"}

-- With these an unlock was not even begun, and the hold is as it was.
local NOT_BEGUN = {[core.BUSY] = true, [core.LIMIT] = true, [core.SHUT_DOWN] = true,
                   [core.INVALID_ARGUMENT] = true}

--- true, or nil, message, code: LOST when the hold had been lost before.
function hold:unlock()
  local is_ok, message, code, details = ask(self, type(self) == "table" and self.ending)
  if code == core.INVALID_ARGUMENT then error(message, 2) end
  self.is_over = is_ok or not NOT_BEGUN[code]
  if is_ok then return true end
  return nil, message, code, details
end

--- Whether this hold is still valid by the local clock. Sends nothing.
function hold:is_held()
  local is_held, message, code = ask(self, type(self) == "table" and IS_HELD[self.ending])
  if code == core.INVALID_ARGUMENT then error(message, 2) end
  return is_held or false
end

--- How long it is still valid by the local clock, in milliseconds.
function hold:valid_ms()
  local left_ms, message, code = ask(self, "valid_ms")
  if code == core.INVALID_ARGUMENT then error(message, 2) end
  return left_ms or 0
end

--- Makes the hold last at least `lease_ms` (the lock's lease unless given) from now.
function hold:extend(lease_ms)
  local is_ok, message, code, details = ask(self, "extend", lease_ms)
  if is_ok then return true end
  if code == core.INVALID_ARGUMENT then error(message, 2) end
  return nil, message, code, details
end

-- What a dispatcher can await.
hold.calls = {unlock_async = true, extend_async = true}

--- For the dispatcher: begins `unlock` or `extend`, which ends on a queue. Misuse is returned, too.
function hold:begin(method, queue, tag, ...)
  if method ~= "unlock" then return ask(self, method .. "_async", queue.handle, tag, ...) end
  local is_ok, message, code, details = ask(self, self.ending .. "_async", queue.handle, tag)
  self.is_over = is_ok or not NOT_BEGUN[code]
  return is_ok, message, code, details
end

function hold:__close()
  if not self.owner.is_closed then self:unlock() end
end

-- What `run` ends with once fn has come back from under the lock.
local function finish(self, unlock, is_fine, ...)
  local is_released, message, code = true, nil, nil
  if not self.is_over and not self.owner.is_closed then
    is_released, message, code = unlock(self)
  end
  if not is_fine then error((...), 0) end
  if not is_released and code == core.LOST then return nil, message, code, ... end
  return true, ...
end

--- Calls fn with the hold, then unlocks, also when fn raises. Gives true and fn's results; when the
-- hold was lost meanwhile nil, message, LOST and fn's results. On Lua 5.1 fn cannot yield.
function hold.run(self, fn, unlock)
  return finish(self, unlock or hold.unlock, pcall(fn, self))
end

return hold
