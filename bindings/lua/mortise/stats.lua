--- Converts the statistics of a client to a table of plain values.
local core = require "mortise.core"

return function(stats)
  local answer = {
    json = core.stats_json(stats),
    prometheus = core.stats_prometheus(stats),
    samples = {},
  }
  for index = 0, core.stats_count(stats) - 1 do
    local labels = {}
    for label = 0, core.stats_label_count(stats, index) - 1 do
      labels[core.stats_label_name(stats, index, label)] =
        core.stats_label_value(stats, index, label)
    end
    answer.samples[index + 1] = {
      name = core.stats_name(stats, index),
      type = core.stats_type(stats, index),
      value = core.stats_value(stats, index),
      labels = labels,
    }
  end
  core.stats_free(stats)
  return answer
end
