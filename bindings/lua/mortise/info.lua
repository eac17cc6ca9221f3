--- Converts the state of a lock at the server to a table of plain values.
local core = require "mortise.core"

local function entry(info, index)
  return {
    owner = core.info_entry_owner(info, index),
    host = core.info_entry_host(info, index),
    pid = core.info_entry_pid(info, index),
    label = core.info_entry_label(info, index),
    value = core.info_entry_value(info, index),
    permits = core.info_entry_permits(info, index),
    is_exclusive = core.info_entry_is_exclusive(info, index),
    is_retained = core.info_entry_is_retained(info, index),
  }
end

return function(info)
  local answer = {holders = {}, waiters = {}}
  for _, name in ipairs {"is_held", "is_mine", "time_left_ms", "latest_token", "holder_count",
                         "permits", "permits_in_use", "waiter_count"} do
    answer[name] = core["info_" .. name](info)
  end
  local shown_holders = core.info_shown_holder_count(info)
  for index = 0, core.info_entry_count(info) - 1 do
    local list = index < shown_holders and answer.holders or answer.waiters
    list[#list + 1] = entry(info, index)
  end
  core.info_free(info)
  return answer
end
