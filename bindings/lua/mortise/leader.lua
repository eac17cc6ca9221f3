--- Returns the leader in the C layer's answer about an election, or nil if nobody leads.
local info = require "mortise.info"

return function(answer)
  local first = info(answer).holders[1]
  return first and not first.is_retained and first or nil
end
