local mortise = require "mortise"
local check = require "check"

local function close(value) getmetatable(value).__close(value) end

check.case("with passes results through and unlocks", function(name)
  local lock = check.client():lock(name)
  local count = select("#", lock:with(function() return 1, nil, nil end))
  check.equal(count, 4)
  local is_ok, token, nothing, three = lock:with(function(hold) return hold.token, nil, 3 end, 5000)
  check.equal(is_ok, true)
  check.equal(token, lock:token())
  check.equal(nothing, nil)
  check.equal(three, 3)
  check.equal(lock:is_held(), false)
end)

check.case("with unlocks when fn raises, and raises the same", function(name)
  local lock = check.client():lock(name)
  for _, problem in ipairs {{}, "a text", 5, print, false} do
    local is_fine, raised = pcall(lock.with, lock, function()
      check.equal(lock:is_held(), true)
      error(problem, 0)
    end)
    check.equal(is_fine, false)
    check.equal(raised, problem)
    check.equal(lock:is_held(), false)
  end
  local is_fine, raised = pcall(lock.with, lock, function() error() end)
  check.equal(is_fine, false)
  check.equal(raised, nil)
  check.equal(lock:is_held(), false)
end)

check.case("with raises the same also when the unlock fails", function(name)
  local lock = check.client({command_timeout = "200ms"}):lock(name)
  local problem = {}
  local is_fine, raised = pcall(lock.with, lock, function()
    check.redis("client pause 600 all")
    error(problem)
  end)
  check.equal(is_fine, false)
  check.equal(raised, problem)
  check.equal(lock:is_held(), false)
  -- Without an error of fn it is as ever: the server frees the lock when it can.
  check.eventually(function() return lock:try() end)
  assert(lock:unlock())
  check.equal(lock:with(function() check.redis("client pause 600 all") end), true)
  check.equal(lock:is_held(), false)
  is_fine, raised = pcall(lock.with, lock, function()
    lock:close()
    error(problem)
  end, 20000)
  check.equal(is_fine, false)
  check.equal(raised, problem)
end)

-- Lua 5.1 does not allow a yield under pcall, by which `with` sees that fn raises.
check.case("fn may yield where Lua lets it, and else the lock is given back", function(name)
  local lock = check.client():lock(name)
  local thread = coroutine.create(function()
    return lock:with(function() return coroutine.yield("inside") end)
  end)
  local is_fine, first = coroutine.resume(thread)
  if _VERSION == "Lua 5.1" and not jit then
    check.equal(is_fine, false)
    check.equal(first:find("attempt to yield", 1, true) ~= nil, true)
  else
    check.equal(first, "inside")
    check.equal(lock:is_held(), true)
    local _, is_ok, given = coroutine.resume(thread, "given")
    check.equal(is_ok, true)
    check.equal(given, "given")
  end
  check.equal(lock:is_held(), false)
end)

-- Only Lua 5.4 can close a coroutine.
check.case("with unlocks when its coroutine is closed during fn", function(name)
  if not coroutine.close then return end
  local client = check.client()
  local dispatcher = assert(require("mortise.dispatcher").new(client))
  local lock = client:lock(name)
  local function wait(hold)
    assert(hold:is_held())
    coroutine.yield()
  end
  for _, run in ipairs {
    function() lock:with(wait) end,
    function() dispatcher:await(lock, "with", wait) end,
  } do
    local thread = coroutine.create(run)
    assert(coroutine.resume(thread))
    check.dispatch_until(dispatcher, function() return lock:is_held() and dispatcher:is_idle() end)
    check.equal(coroutine.close(thread), true)
    check.equal(lock:is_held(), false)
    check.equal(assert(lock:query()).is_held, false)
  end
end)

check.case("with says that nothing was acquired", function(name)
  local client = check.client()
  local holder = assert(client:lock(name):try()) -- collected, it would be released
  local is_called = false
  check.outcome(mortise.TIMED_OUT, client:lock(name):with(function() is_called = true end, 10))
  check.equal(is_called, false)
  check.equal(holder:unlock(), true)
end)

check.case("with tells that the hold was lost, and what fn gave", function(name)
  local client = check.client()
  local lock = client:lock(name, {lease = 60, renewal = "off"})
  local value, message, code, given = lock:with(function()
    check.eventually(function() return not lock:is_held() end)
    return "done"
  end)
  check.outcome(mortise.LOST, value, message, code)
  check.equal(given, "done")
end)

check.case("fn may unlock by itself, or close the lock", function(name)
  local lock = check.client():lock(name)
  check.equal(lock:with(function(hold) assert(hold:unlock()) end), true)
  check.equal(lock:with(function() assert(lock:unlock()) end), true)
  check.equal(lock:with(function() lock:close() end), true)
end)

check.case("with says when it leaves the lock held", function(name)
  local lock = check.client():lock(name)
  local value, message, code, given = lock:with(function()
    assert(lock:unlock())
    return assert(lock:acquire(20000))
  end)
  check.outcome(mortise.LOST, value, message, code)
  check.equal(given:unlock(), true)
end)

-- <close> is grammar of Lua 5.4. What it calls is there on every Lua.
check.case("a hold, a lock and a client close themselves", function(name)
  local client = check.client()
  local hold_in_block = assert((loadstring or load)([[
    local lock, close = ...
    do
      local hold ]] .. (_VERSION == "Lua 5.4" and "<close>" or "") .. [[ = assert(lock:try())
      assert(lock:is_held())
      if _VERSION ~= "Lua 5.4" then close(hold) end
    end
    assert(not lock:is_held())
  ]]))
  local lock = client:lock(name)
  hold_in_block(lock, close)
  assert(lock:try())
  close(lock)
  check.equal(lock.is_closed, true)
  check.eventually(function() return client:lock(name):try() end)
  close(client)
  check.equal(client.is_closed, true)
end)

check.case("the end of a block raises what it cannot return", function(name)
  local client = check.client()
  local block = assert((loadstring or load)([[
    local lock, lose, close = ...
    do
      local hold ]] .. (_VERSION == "Lua 5.4" and "<close>" or "") .. [[ =
        assert(lock:acquire(20000))
      lose(hold)
      if _VERSION ~= "Lua 5.4" then close(hold) end
    end
  ]], "=block"))
  local function lose(hold) check.eventually(function() return not hold:is_held() end) end
  local lock = client:lock(name, {lease = 60, renewal = false})
  local is_fine, message = pcall(block, lock, lose, close)
  check.equal(is_fine, false)
  local place = _VERSION == "Lua 5.4" and "block" or debug.getinfo(1, "S").short_src
  check.equal(message:sub(1, #place), place)
  -- An owner that unlocks in the block has been notified.
  block(lock, function(hold)
    lose(hold)
    check.outcome(mortise.LOST, hold:unlock())
  end, close)
  check.equal(lock:is_held(), false)
end)

check.finish()
