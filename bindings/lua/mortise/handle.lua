--- The common part of all handles. A handle is a table whose field `handle` is the C library's
-- object, and whose methods call it. Misuse is raised at the caller's line. Every other result is
-- returned.
local core = require "mortise.core"

local handle = {}

-- Returns the C object of one of our tables. Other values are returned unchanged, so that the C
-- layer reports the mistake.
local function unwrap(value)
  return type(value) == "table" and rawget(value, "handle") or value
end
handle.unwrap = unwrap

--- Makes a method that calls a function of the C layer with the handle and all arguments. Misuse is
-- raised in the method itself, so that the caller is one level above.
function handle.method(call)
  return function(self, ...)
    local value, message, code, details = call(unwrap(self), ...)
    if value ~= nil then return value end
    if code == core.INVALID_ARGUMENT then error(message, 2) end
    return nil, message, code, details
  end
end

--- Makes a method without arguments that sends no request. It returns only its value. Without room
-- for other results it is cheaper.
function handle.look(call)
  return function(self)
    local value = call(type(self) == "table" and self.handle or self)
    if value ~= nil then return value end
    local _, message = call(unwrap(self))
    error(message, 2)
  end
end

--- As `method`, for a method whose first argument is one of our tables.
function handle.method_with(call)
  return function(self, other, ...)
    local value, message, code, details = call(unwrap(self), unwrap(other), ...)
    if value ~= nil then return value end
    if code == core.INVALID_ARGUMENT then error(message, 2) end
    return nil, message, code, details
  end
end

--- Makes a class of handles that `free` frees. `close` may be called again, and `<close>` calls it.
function handle.class(name, free)
  local class = {}
  class.__index = class
  class.__name = "mortise." .. name
  function class.__tostring(self)
    return ("mortise.%s%s"):format(name, self.is_closed and " (closed)" or "")
  end
  function class.close(self)
    if getmetatable(self) == class and self.is_closed then return end
    local _, message = free(unwrap(self))
    if message then error(message, 2) end
    self.is_closed = true
    -- The callbacks of a dispatcher.
    for _, watcher in pairs(self.watchers or {}) do watcher.fn = nil end
  end
  -- Runs at the end of a block. It also receives the error that ended the block.
  function class.__close(self)
    self:close()
  end
  return class
end

return handle
