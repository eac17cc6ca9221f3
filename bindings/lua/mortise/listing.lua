--- Converts a listing of the locks that all live clients hold and wait for to a table of plain
-- values. The history of a lock has other rows.
local core = require "mortise.core"

local TEXTS = {
  "client", "host", "label", "value", "name", "kind", "mode", "waits", "threads", "source",
}
local NUMBERS = {
  "pid", "holds", "token", "held_ms", "time_left_ms", "permits", "waiters", "waited_ms", "grants",
  "contended", "waited_total_ms", "retained",
}
local HISTORY_TEXTS = {"client", "host", "label", "event", "mode", "why"}
local HISTORY_NUMBERS = {
  "pid", "handle", "token", "permits", "place", "time_us", "lasted_us", "error_us",
}

-- Makes a function that reads a listing into a table, with its rows under this key.
local function reading(rows, texts, numbers)
  return function(listing)
    local answer = {
      answered = core.listing_answered(listing),
      silent = core.listing_silent(listing),
      truncated = core.listing_truncated(listing),
      json = core.listing_json(listing),
      [rows] = {},
    }
    for index = 0, core.listing_count(listing) - 1 do
      local row = {}
      for _, key in ipairs(texts) do row[key] = core.listing_text(listing, index, key) end
      for _, key in ipairs(numbers) do row[key] = core.listing_number(listing, index, key) end
      answer[rows][index + 1] = row
    end
    core.listing_free(listing)
    return answer
  end
end

return {
  of_locks = reading("entries", TEXTS, NUMBERS),
  of_history = reading("events", HISTORY_TEXTS, HISTORY_NUMBERS),
}
