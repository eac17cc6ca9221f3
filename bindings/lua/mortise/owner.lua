--- The common part of mutexes, read-write locks, semaphores and multis.
local core = require "mortise.core"
local handle = require "mortise.handle"
local hold = require "mortise.hold"
local info = require "mortise.info"

local owner = {}

-- Makes a method that acquires and returns a hold.
local function acquiring(call, ending)
  return function(self, ...)
    local is_ok, message, code, details = call(handle.unwrap(self), ...)
    if is_ok then return hold.new(self, ending) end
    if code == core.INVALID_ARGUMENT then error(message, 2) end
    return nil, message, code, details
  end
end

-- Makes a method that acquires, calls fn under the lock and unlocks. See hold.run.
local function running(call, ending)
  return function(self, fn, ...)
    if type(fn) ~= "function" then error("fn has to be a function, not " .. type(fn), 2) end
    local is_ok, message, code, details = call(handle.unwrap(self), ...)
    if is_ok then return hold.run(hold.new(self, ending), fn) end
    if code == core.INVALID_ARGUMENT then error(message, 2) end
    return nil, message, code, details
  end
end

local function querying(call)
  return function(self)
    local answer = core.info_new()
    local is_ok, message, code, details = call(handle.unwrap(self), answer)
    if is_ok then return info(answer) end
    if code == core.INVALID_ARGUMENT then error(message, 2) end
    return nil, message, code, details
  end
end

-- Makes the method that exports the present hold and returns its id.
local function exporting(call)
  return function(self, lease_ms)
    local id, message, code, details = hold.id_of(call(handle.unwrap(self), lease_ms or 0))
    if id then return id end
    if code == core.INVALID_ARGUMENT then error(message, 2) end
    return nil, message, code, details
  end
end

-- Makes the method that continues an exported hold. `ending_of` returns the ending of the hold.
local function adopting(call, ending_of)
  return function(self, id)
    local is_ok, message, code, details = call(handle.unwrap(self), id)
    if is_ok then return hold.new(self, ending_of(self)) end
    if code == core.INVALID_ARGUMENT then error(message, 2) end
    return nil, message, code, details
  end
end

-- For the dispatcher: begins a method that ends on a queue. Misuse is also returned.
local function begin(self, method, queue, tag, ...)
  return self.calls[method .. "_async"](self.handle, queue.handle, tag, ...)
end

-- For the dispatcher: returns the hold that a method has acquired, by its event, or nil if the
-- method acquires none.
local function hold_of(self, method, event)
  local ending = self.endings[method]
  return ending and hold.new(self, ending, event)
end

--- Makes a class from the C layer's functions `<prefix>_<method>`. `endings` names for each method
-- that acquires the function that ends its hold by the number. `blocks` names for each `with` the
-- method that acquires. `looks` are methods without arguments that send no request. `plain` are the
-- other methods. A method with an `_async` form in C also gets it in Lua:
-- `<method>_async(queue, tag, …)`. `calls` has the C layer's functions by the names of the methods.
-- They do not raise misuse.
function owner.class(prefix, endings, blocks, looks, plain)
  local class = handle.class(prefix, core[prefix .. "_free"])
  class.endings, class.blocks, class.calls = endings, blocks, {}
  class.begin, class.hold_of = begin, hold_of
  local function in_c(name) return core[prefix .. "_" .. name] end
  local function add(name, method)
    local async = name .. "_async"
    class[name], class.calls[name] = method, in_c(name)
    if in_c(async) then
      class[async], class.calls[async] = handle.method_with(in_c(async)), in_c(async)
    end
  end

  for name, ending in pairs(endings) do
    add(name, acquiring(in_c(name), ending))
    for _, each in ipairs {ending, ending .. "_async"} do class.calls[each] = in_c(each) end
  end
  for name, acquire in pairs(blocks) do class[name] = running(in_c(acquire), endings[acquire]) end
  for _, name in ipairs(looks) do add(name, handle.look(in_c(name))) end
  for _, name in ipairs(plain) do add(name, handle.method(in_c(name))) end
  if in_c("adopt") then
    add("export", exporting(in_c("export")))
    add("adopt", adopting(in_c("adopt"), function(self)
      local is_writing = class.calls.is_writing and class.calls.is_writing(self.handle)
      return is_writing and endings.write_try or endings.read_try or endings.try
    end))
  end
  if in_c("query") then add("query", querying(in_c("query"))) end
  if in_c("force_release") then add("force_release", handle.method(in_c("force_release"))) end
  if in_c("watch") then add("watch", handle.method_with(in_c("watch"))) end
  return class
end

return owner
