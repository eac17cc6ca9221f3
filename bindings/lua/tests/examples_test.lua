--- The examples, with the event loops of Debian.
local check = require "check"

local examples = assert(os.getenv("MORTISE_TEST_EXAMPLES"))

for _, name in ipairs {"luv", "cqueues"} do
  check.case(name, function()
    local lines = {}
    local chunk = assert(loadfile(("%s/%s.lua"):format(examples, name)))
    local real_print, real_arg = print, arg
    print, arg = function(line) lines[#lines + 1] = line end, {check.url}
    local is_fine, message = pcall(chunk)
    print, arg = real_print, real_arg
    check.equal(is_fine, true, tostring(message))
    check.equal(#lines, 3)
    local token = 0
    for _, line in ipairs(lines) do
      local new = tonumber(line:match("token (%d+)$"))
      check.equal(new > token, true)
      token = new
    end
  end)
end

check.finish()
