-- Locks in the Lua code of nginx or OpenResty, without blocking the worker: a request that waits
-- sleeps on an ngx.semaphore, and the worker serves other requests. nginx cannot watch a foreign
-- descriptor, so a thread of its pool waits for that of Mortise while a request waits.
local mortise = require "mortise"
local new_dispatcher = require("mortise.dispatcher").new
local semaphore = require "ngx.semaphore"

local locks = {}
local client, dispatcher
local is_serving = false

-- Wakes the requests whose calls have ended, until no request waits.
local function serve()
  while not dispatcher:is_idle() do
    assert(ngx.run_worker_thread("mortise", "readable", "wait", dispatcher:fd(), 500))
    assert(dispatcher:dispatch())
  end
end

local function serve_in_timer()
  local is_fine, problem = pcall(serve)
  is_serving = false
  if not is_fine then ngx.log(ngx.ERR, problem) end
end

-- Returns how a request sleeps, how it is woken, and whether it has ended.
local function park()
  local woken = assert(semaphore.new())
  local function sleep()
    if not is_serving then is_serving = assert(ngx.timer.at(0, serve_in_timer)) end
    woken:wait(1)
  end
  return sleep, function() woken:post() end, function() return woken:count() >= 0 end
end

--- Call this in init_worker_by_lua: a client that was opened before nginx forks is unusable.
function locks.start(url)
  -- With lazy, the worker starts without a server.
  client = assert(mortise.open(url, {connect = "lazy"}))
  dispatcher = assert(new_dispatcher(client, park))
end

--- In a request, as lock:with. Returns true and the results of fn, or nil, message, code. fn may
-- wait.
function locks.with(name, fn, timeout_ms)
  -- Each request is its own owner.
  local lock, message, code = client:lock(name)
  if not lock then return nil, message, code end
  return dispatcher:await(lock, "with", fn, timeout_ms)
end

return locks
