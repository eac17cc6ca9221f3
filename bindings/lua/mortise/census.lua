--- Converts a listing of the locks that all live clients hold and wait for to a table of plain
-- values.
local core = require "mortise.core"

local TEXTS = {"client", "host", "label", "name", "kind", "mode", "waits", "source"}
local NUMBERS = {
  "pid", "holds", "token", "held_ms", "time_left_ms", "permits", "waiters", "waited_ms", "grants",
  "contended", "waited_total_ms", "retained",
}

return function(census)
  local answer = {
    answered = core.census_answered(census),
    silent = core.census_silent(census),
    truncated = core.census_truncated(census),
    json = core.census_json(census),
    entries = {},
  }
  for index = 0, core.census_count(census) - 1 do
    local entry = {}
    for _, key in ipairs(TEXTS) do entry[key] = core.census_text(census, index, key) end
    for _, key in ipairs(NUMBERS) do entry[key] = core.census_number(census, index, key) end
    answer.entries[index + 1] = entry
  end
  core.census_free(census)
  return answer
end
