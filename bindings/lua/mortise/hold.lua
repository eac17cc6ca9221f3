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
  if owner.holds then
    owner.holds[new] = true
    owner.upgrading = nil
  end
  return new
end

-- What a message begins with: the lock's name, as the C library shows it.
local function title(owner)
  local name = owner.calls.name and owner.calls.name(owner.handle)
  if not name then return "" end
  local shown = name:sub(1, 64):gsub("[^ -~]", "?")
  return ('"%s%s": '):format(shown, #name > 64 and "…" or "")
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
  if not is_ours then
    local is_changing = self.token and owner.upgrading == self.token and not self.is_over
    if not is_changing then
      return nil, title(owner) .. "this hold has ended already", core.NOT_OWNER
    end
    return nil, title(owner) .. "the event of this hold's upgrade has to be taken first", core.BUSY
  end
  local call = owner.calls[method]
  if not call then return nil, tostring(self) .. " has no " .. method, core.INVALID_ARGUMENT end
  return call(owner.handle, ...)
end

-- With these an unlock was not even begun, and the hold is as it was.
local NOT_BEGUN = {[core.BUSY] = true, [core.LIMIT] = true, [core.SHUT_DOWN] = true,
                   [core.NO_MEMORY] = true}

local OTHER = {read_unlock = "write_unlock", write_unlock = "read_unlock"}

-- Whether the owner holds anything, by the local clock.
local function holds_nothing(owner)
  return owner.calls.deadline_ns(owner.handle) == 0
end

-- Ends this hold; with the suffix "_async" begins to.
local function finish(self, suffix, ...)
  local ending = type(self) == "table" and self.ending
  local is_ok, message, code, details = ask(self, ending and ending .. suffix, ...)
  if code == core.NOT_OWNER and OTHER[ending] and not self.is_over and
    holds_nothing(self.owner) then
    -- It was lost while it was being changed, and ends as what it was to be.
    is_ok, message, code, details = ask(self, OTHER[ending] .. suffix, ...)
  end
  if code == core.INVALID_ARGUMENT then return nil, message, code end
  self.is_over = is_ok or not NOT_BEGUN[code]
  return is_ok, message, code, details
end

-- The method that says whether there is a hold, by the one that ends it.
local IS_HELD = {unlock = "is_held", release = "is_held", read_unlock = "is_reading",
                 write_unlock = "is_writing"}

--- true, or nil, message, code: LOST when the hold had been lost before.
function hold:unlock()
  local is_ok, message, code, details = finish(self, "")
  if code == core.INVALID_ARGUMENT then error(message, 2) end
  if is_ok then return true end
  return nil, message, code, details
end

--- Whether this hold is still valid by the local clock. Sends nothing.
function hold:is_held()
  local is_held, message, code = ask(self, type(self) == "table" and IS_HELD[self.ending])
  if code == core.INVALID_ARGUMENT then error(message, 2) end
  if code == core.BUSY then return not holds_nothing(self.owner) end
  return is_held or false
end

--- How long it is still valid by the local clock, in milliseconds.
function hold:valid_ms()
  local left_ms, message, code = ask(self, "valid_ms")
  if code == core.INVALID_ARGUMENT then error(message, 2) end
  if code == core.BUSY then return self.owner:valid_ms() end
  return left_ms or 0
end

--- Makes the hold last at least `lease_ms` (the lock's lease unless given) from now.
function hold:extend(lease_ms)
  local is_ok, message, code, details = ask(self, "extend", lease_ms)
  if is_ok then return true end
  if code == core.INVALID_ARGUMENT then error(message, 2) end
  return nil, message, code, details
end

-- What a dispatcher can await, none of which gives a hold.
hold.calls = {unlock_async = true, extend_async = true}

function hold.hold_of() end

--- For the dispatcher: begins `unlock` or `extend`, which ends on a queue. Misuse is returned, too.
function hold:begin(method, queue, tag, ...)
  if method ~= "unlock" then return ask(self, method .. "_async", queue.handle, tag, ...) end
  return finish(self, "_async", queue.handle, tag)
end

-- With these nothing is held here any more, and the lease ends what the server may still have.
local IS_LEFT_TO_LEASE = {[core.UNKNOWN] = true, [core.UNREACHABLE] = true}

-- Unlocks at the end of a block, unless that was done in it. true, or nil, message, code when the
-- block may not have been alone or the lock is still held.
local function leave(self, unlock)
  local owner = self.owner
  if self.is_over or owner.is_closed then return true end
  local is_ok, message, code = unlock(self)
  if is_ok or IS_LEFT_TO_LEASE[code] then return true end
  if code == core.NOT_OWNER and holds_nothing(owner) then return true end
  return nil, message, code
end

--- The end of a block. Raises an error when the unlock is refused, unless one is on its way.
function hold:__close(problem)
  local is_left, message = leave(self, hold.unlock)
  if not is_left and problem == nil then error(message, 2) end
end

-- What `run` ends with once fn has come back from under the lock.
local function come_back(self, unlock, is_fine, ...)
  local is_left, message, code = leave(self, unlock)
  if not is_fine then error((...), 0) end
  if not is_left then return nil, message, code, ... end
  return true, ...
end

--- Calls fn with the hold, then unlocks, also when fn raises. Gives true and fn's results; when the
-- hold was lost meanwhile, or the unlock is refused, nil, message, code and fn's results. On Lua
-- 5.1 fn cannot yield.
function hold.run(self, fn, unlock)
  return come_back(self, unlock or hold.unlock, pcall(fn, self))
end

return hold
