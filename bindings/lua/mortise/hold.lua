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
  return setmetatable({owner = owner, ending = ending, token = owner.token and owner:token()}, hold)
end

-- A handle that was acquired anew has a higher token: its new hold is not ours to end.
local function is_current(self)
  return not self.is_over and (self.token == nil or self.owner:token() <= self.token)
end

--- true, or nil, message, code: LOST when the hold had been lost before.
function hold:unlock()
  if not is_current(self) then
    return nil, core.status_text(core.NOT_OWNER), core.NOT_OWNER
  end
  self.is_over = true
  return self.owner[self.ending](self.owner)
end

--- Whether this hold is still valid by the local clock. Sends nothing.
function hold:is_held()
  return is_current(self) and self.owner:valid_ms() > 0
end

--- How long it is still valid by the local clock, in milliseconds.
function hold:valid_ms()
  return is_current(self) and self.owner:valid_ms() or 0
end

--- Makes the hold last at least `lease_ms` (the lock's lease unless given) from now.
function hold:extend(lease_ms)
  if not is_current(self) then
    return nil, core.status_text(core.NOT_OWNER), core.NOT_OWNER
  end
  return self.owner:extend(lease_ms)
end

function hold:__close()
  if not self.owner.is_closed then self:unlock() end
end

-- What `run` ends with once fn has come back from under the lock.
local function finish(self, is_fine, ...)
  local is_released, message, code = true, nil, nil
  if not self.is_over and not self.owner.is_closed then
    is_released, message, code = self:unlock()
  end
  if not is_fine then error((...), 0) end
  if not is_released and code == core.LOST then return nil, message, code, ... end
  return true, ...
end

--- Calls fn with the hold, then unlocks, also when fn raises. Gives true and fn's results; when the
-- hold was lost meanwhile nil, message, LOST and fn's results. On Lua 5.1 fn cannot yield.
function hold.run(self, fn)
  return finish(self, pcall(fn, self))
end

return hold
