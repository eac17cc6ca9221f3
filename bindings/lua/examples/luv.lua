-- Three coroutines take turns under one lock in luv's loop. No thread is blocked.
-- Needs luv (Debian: lua-luv). Usage: lua5.4 luv.lua [URL]
local uv = require "luv"
local mortise = require "mortise"

local client = assert(mortise.open(arg[1] or "redis://localhost"))
local dispatcher = assert(require("mortise.dispatcher").new(client))

-- When the queue has events, the coroutines that wait for them continue.
local poll = uv.new_poll(dispatcher:fd())
poll:start("r", function() assert(dispatcher:dispatch()) end)

local function sleep(duration_ms)
  local sleeper, timer = coroutine.running(), uv.new_timer()
  timer:start(duration_ms, 0, function()
    timer:close()
    assert(coroutine.resume(sleeper))
  end)
  coroutine.yield()
end

local left = 3
for worker = 1, 3 do
  coroutine.wrap(function()
    local lock = client:lock("report")
    local hold = assert(dispatcher:await(lock, "acquire", 5000))
    print(("worker %d holds the lock, token %.0f"):format(worker, hold.token))
    sleep(10)
    assert(dispatcher:await(lock, "unlock"))
    left = left - 1
    if left == 0 then poll:close() end
  end)()
end

uv.run()
client:close()
