-- Three coroutines take turns under one lock in a loop of cqueues. No thread is blocked.
-- Needs cqueues (Debian: lua-cqueues). Usage: lua5.4 cqueues.lua [URL]
local condition = require "cqueues.condition"
local cqueues = require "cqueues"
local mortise = require "mortise"

local client = assert(mortise.open(arg[1] or "redis://localhost"))

-- cqueues has its own coroutines, which sleep on conditions.
local function park()
  local woken = condition.new()
  return function() woken:wait() end, function() woken:signal() end
end
local dispatcher = assert(require("mortise.dispatcher").new(client, park))

local loop = cqueues.new()
local left = 3

-- When the queue has events, the coroutines that wait for them continue.
loop:wrap(function()
  local readable = {pollfd = dispatcher:fd(), events = "r"}
  while true do
    cqueues.poll(readable)
    assert(dispatcher:dispatch())
  end
end)

for worker = 1, 3 do
  loop:wrap(function()
    local lock = client:lock("report")
    local hold = assert(dispatcher:await(lock, "acquire", 5000))
    print(("worker %d holds the lock, token %.0f"):format(worker, hold.token))
    cqueues.sleep(0.01)
    assert(dispatcher:await(lock, "unlock"))
    left = left - 1
  end)
end

while left > 0 do assert(loop:step()) end
client:close()
