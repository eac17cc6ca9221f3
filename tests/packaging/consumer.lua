-- Takes a lock and prints the library's version.
local mortise = require "mortise"

local client = assert(mortise.open(os.getenv("MORTISE_TEST_URL")))
local is_ok, version = client:lock("packaging"):with(function(hold)
  assert(hold.token > 0 and hold:is_held())
  return mortise.version()
end, 5000)
assert(is_ok)
assert(require("mortise.dispatcher").new(client):fd() >= 0)
print(version)
