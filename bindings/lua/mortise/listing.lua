--- Converts a listing of the locks that all live clients hold and wait for to a table of plain
-- values.
local core = require "mortise.core"

local TEXTS = {"client", "host", "label", "value", "name", "kind", "mode", "waits", "source"}
local NUMBERS = {
  "pid", "holds", "token", "held_ms", "time_left_ms", "permits", "waiters", "waited_ms", "grants",
  "contended", "waited_total_ms", "retained",
}

return function(listing)
  local answer = {
    answered = core.listing_answered(listing),
    silent = core.listing_silent(listing),
    truncated = core.listing_truncated(listing),
    json = core.listing_json(listing),
    entries = {},
  }
  for index = 0, core.listing_count(listing) - 1 do
    local entry = {}
    for _, key in ipairs(TEXTS) do entry[key] = core.listing_text(listing, index, key) end
    for _, key in ipairs(NUMBERS) do entry[key] = core.listing_number(listing, index, key) end
    answer.entries[index + 1] = entry
  end
  core.listing_free(listing)
  return answer
end
