--- Converts the result of a health check of the servers to a table of plain values.
local core = require "mortise.core"

local texts = {"name", "server", "value", "consequence", "remedy"}

return function(health)
  local answer = {
    worst = core.severity_text(core.health_worst(health)),
    json = core.health_json(health),
    findings = {},
  }
  for index = 0, core.health_count(health) - 1 do
    local finding = {severity = core.severity_text(core.health_severity(health, index))}
    for _, name in ipairs(texts) do
      finding[name] = core["health_" .. name](health, index)
    end
    answer.findings[index + 1] = finding
  end
  core.health_free(health)
  return answer
end
