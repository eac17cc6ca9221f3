local mortise = require "mortise"
local check = require "check"

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
  local problem = {}
  local is_fine, raised = pcall(lock.with, lock, function()
    check.equal(lock:is_held(), true)
    error(problem)
  end)
  check.equal(is_fine, false)
  check.equal(raised, problem)
  check.equal(lock:is_held(), false)
end)

check.case("with says that nothing was acquired", function(name)
  local client = check.client()
  assert(client:lock(name):try())
  local is_called = false
  check.outcome(mortise.TIMED_OUT, client:lock(name):with(function() is_called = true end, 10))
  check.equal(is_called, false)
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

-- <close> is grammar of Lua 5.4. What it calls is there on every Lua.
check.case("a hold, a lock and a client close themselves", function(name)
  local client = check.client()
  local function close(value) getmetatable(value).__close(value) end
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

check.finish()
