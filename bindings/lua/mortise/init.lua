--- Mortise: distributed locks on Redis and Valkey, for Lua 5.1 to 5.4 and LuaJIT.
--
--     local mortise = require "mortise"
--     local client = assert(mortise.open("redis://localhost"))
--     local lock = client:lock("report", {lease = "30s"})
--     print(lock:with(function(hold) return hold.token end, 5000))
--
-- README.md in the parent folder describes the interface. Statuses and kinds of event are fields of
-- this table: mortise.TIMED_OUT, mortise.EVENT_LOST, …
local core = require "mortise.core"
local client = require "mortise.client"
local handle = require "mortise.handle"

-- Rejects a library that is older than the one this module was compiled for.
assert(core.check_abi(core.ABI_MAJOR, core.VERSION_MINOR))

local mortise = {
  open = client.open,
  version = core.version_text,
  status_text = handle.method(core.status_text),
  log_level_text = handle.method(core.log_level_text),
  log_subject_text = handle.method(core.log_subject_text),
}

for name, value in pairs(core) do
  if type(value) == "number" then mortise[name] = value end
end

-- In C it is a negative number, which is a mistake as a timeout in Lua.
mortise.FOREVER = math.huge

return mortise
