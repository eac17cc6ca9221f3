--- What all handles have in common: a table whose field `handle` is the C library's object, and
-- whose methods call it. Misuse is raised at the caller's line; every other outcome is returned.
local core = require "mortise.core"

local handle = {}

-- The C object of one of our tables; anything else as it is, for the C layer to say what is wrong.
local function unwrap(value)
  return type(value) == "table" and rawget(value, "handle") or value
end
handle.unwrap = unwrap

--- A method that calls a function of the C layer with the handle and all arguments. Misuse is
-- raised here, and not further down, so that the caller is one level above.
function handle.method(call)
  return function(self, ...)
    local value, message, code, details = call(unwrap(self), ...)
    if value ~= nil then return value end
    if code == core.INVALID_ARGUMENT then error(message, 2) end
    return nil, message, code, details
  end
end

--- The same for what asks nobody and takes nothing: it has no outcome but its value, and is cheaper
-- without the room for others.
function handle.look(call)
  return function(self)
    local value = call(type(self) == "table" and self.handle or self)
    if value ~= nil then return value end
    local _, message = call(unwrap(self))
    error(message, 2)
  end
end

--- The same where the first argument is one of our tables.
function handle.method_with(call)
  return function(self, other, ...)
    local value, message, code, details = call(unwrap(self), unwrap(other), ...)
    if value ~= nil then return value end
    if code == core.INVALID_ARGUMENT then error(message, 2) end
    return nil, message, code, details
  end
end

--- A class of handles that `free` frees; `close` may be called again, and is what `<close>` calls.
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
  end
  -- Of a block's end, which also gives the error that ended it.
  function class.__close(self)
    self:close()
  end
  return class
end

return handle
