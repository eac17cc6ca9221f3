-- A request that counts in a file under a lock. Without the lock, two requests at once would lose a
-- count.
local locks = require "locks"

local path = ngx.config.prefix() .. "/count"

local is_ok, message, code = locks.with("report", function()
  local file = io.open(path)
  local count = file and file:read("*n") or 0
  if file then file:close() end
  ngx.sleep(0.001)
  file = assert(io.open(path, "w"))
  file:write(("%.0f"):format(count + 1))
  file:close()
end, 5000)

if is_ok then
  ngx.say("counted")
else
  ngx.status = 503
  ngx.say(message, " (", code, ")")
end
