-- Locks in the Lua code of nginx or OpenResty, without blocking the worker: a request that waits
-- sleeps on an ngx.semaphore, and the worker goes on with others. nginx watches no descriptor of
-- somebody else, so a thread of its pool waits for Mortise's, as long as some request waits.
local mortise = require "mortise"
local new_dispatcher = require("mortise.dispatcher").new
local semaphore = require "ngx.semaphore"

local locks = {}
local client, dispatcher
local is_serving = false

-- Wakes the requests whose calls have ended, until none waits any more.
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

-- How a request sleeps, how it is woken, and how to know that it is not there any more.
local function park()
  local woken = assert(semaphore.new())
  local function sleep()
    if not is_serving then is_serving = assert(ngx.timer.at(0, serve_in_timer)) end
    woken:wait(1)
  end
  return sleep, function() woken:post() end, function() return woken:count() >= 0 end
end

--- In init_worker_by_lua, because what is made before nginx forks its workers is of no use in them.
function locks.start(url)
  -- With lazy, nothing waits for a server that is not there.
  client = assert(mortise.open(url, {connect = "lazy"}))
  dispatcher = assert(new_dispatcher(client, park))
end

--- In a request, as lock:with: true and what fn gave, or nil, message, code. fn may wait, too.
function locks.with(name, fn, timeout_ms)
  -- Each request is an owner of its own.
  local lock, message, code = client:lock(name)
  if not lock then return nil, message, code end
  return dispatcher:await(lock, "with", fn, timeout_ms)
end

return locks
