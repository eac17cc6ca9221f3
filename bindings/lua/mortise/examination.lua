--- Converts the result of a health check of the servers to a table of plain values.
local core = require "mortise.core"

local texts = {"name", "server", "value", "consequence", "mend"}

return function(examination)
  local answer = {
    worst = core.verdict_text(core.examination_worst(examination)),
    json = core.examination_json(examination),
    findings = {},
  }
  for index = 0, core.examination_count(examination) - 1 do
    local finding = {verdict = core.verdict_text(core.examination_verdict(examination, index))}
    for _, name in ipairs(texts) do
      finding[name] = core["examination_" .. name](examination, index)
    end
    answer.findings[index + 1] = finding
  end
  core.examination_free(examination)
  return answer
end
