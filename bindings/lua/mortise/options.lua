--- Converts options in a table, such as {lease = "30s", reentrant = true}, for the C layer.
local core = require "mortise.core"

local function text(value)
  if type(value) == "boolean" then return value and "on" or "off" end
  if value == math.huge then return "unlimited" end
  -- tostring would write a whole number as 5000.0 or 1e+15.
  if type(value) == "number" and value % 1 == 0 then return ("%.0f"):format(value) end
  if type(value) == "number" then return tostring(value) end
  return value
end

--- Returns an object of the C layer, or nil for nil. With the C object of a client, the options
-- override those of that client. On failure returns nil, message, code.
return function(options, client)
  if options == nil then return nil end
  if type(options) ~= "table" then
    return nil, "options has to be a table, not " .. type(options), core.INVALID_ARGUMENT
  end
  local made, message, code
  if client == nil then
    made, message, code = core.options_new()
  else
    made, message, code = core.options_new_from(client)
  end
  if not made then return nil, message, code end
  for key, value in pairs(options) do
    local is_set
    is_set, message, code = core.options_set(made, key, text(value))
    if not is_set then
      local is_about_value = type(key) == "string" and message:find("^value has")
      if is_about_value then message = key .. ": " .. message end
      return nil, message, code
    end
  end
  return made
end
