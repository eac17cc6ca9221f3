--- A reader that becomes the writer, and back: the hold object changes with it, and a block ends
--- the hold of that moment.
local mortise = require "mortise"
local check = require "check"
local new_dispatcher = require("mortise.dispatcher").new

local function close(hold, problem) getmetatable(hold).__close(hold, problem) end

-- The lock is not held at the server, so that another client writes at once.
local function check_free(client, name)
  check.equal(assert(client:rw(name):query()).is_held, false, "whether the lock is held")
  assert(client:rw(name):write_try())
end

-- The server halts for what writes, so that a change that is begun goes on until it is let go.
local function halt() check.redis("client pause 60000 write") end
local function let_go() check.redis("client unpause") end

local function while_halted(fn)
  halt()
  local is_fine, problem = pcall(fn)
  let_go()
  if not is_fine then error(problem, 0) end
end

check.case("a hold changes in place, its token and its ending", function(name)
  local client = check.client()
  local rw, other = client:rw(name), client:rw(name)
  local hold = assert(rw:read_try())
  local token, too = hold.token, assert(other:read_try())
  check.outcome(mortise.NOT_ACQUIRED, rw:upgrade())
  check.equal(hold.token, token)
  check.equal(hold:is_held(), true)
  check.equal(too:unlock(), true)

  check.equal(rw:upgrade(), hold)
  check.equal(hold.token, rw:token())
  check.equal(hold.token > token, true)
  check.equal(hold:is_held() and rw:is_writing(), true)
  check.outcome(mortise.ALREADY_HELD, rw:upgrade())
  check.equal(hold:extend(60000), true)

  token = hold.token
  check.equal(rw:downgrade(), hold)
  check.equal(hold.token, token)
  check.equal(hold:is_held() and rw:is_reading(), true)
  check.outcome(mortise.NOT_OWNER, rw:downgrade())
  check.equal(hold:unlock(), true)
  check.outcome(mortise.NOT_OWNER, hold:unlock())
  check_free(client, name)
end)

check.case("with ends what its hold was changed to", function(name)
  local client = check.client()
  local rw, problem = client:rw(name), {}
  local is_ok, is_writing = rw:with_read(function(hold)
    assert(rw:upgrade())
    check.equal(hold.token, rw:token())
    return rw:is_writing()
  end)
  check.equal(is_ok and is_writing, true)
  check_free(client, name)

  name = name .. "'"
  rw = client:rw(name)
  check.equal(rw:with_write(function() assert(rw:downgrade()) end), true)
  check_free(client, name)

  name = name .. "'"
  rw = client:rw(name)
  check.equal(rw:with_write(function()
    assert(rw:downgrade())
    assert(rw:upgrade())
  end, 5000), true)
  check_free(client, name)

  name = name .. "'"
  rw = client:rw(name)
  local _, raised = pcall(rw.with_read, rw, function()
    assert(rw:upgrade())
    error(problem)
  end)
  check.equal(raised, problem)
  check_free(client, name)
end)

check.case("<close> ends what its hold was changed to", function(name)
  local client = check.client()
  local rw = client:rw(name)
  local hold = assert(rw:read_try())
  assert(rw:upgrade())
  close(hold)
  hold = assert(rw:write_try())
  assert(rw:downgrade())
  close(hold)
  check_free(client, name)
end)

check.case("what a coroutine awaits changes its hold, too", function(name)
  local client = check.client()
  local dispatcher, rw = assert(new_dispatcher(client)), client:rw(name)
  check.run(dispatcher, function()
    local hold = assert(dispatcher:await(rw, "read_acquire", 20000))
    local token = hold.token
    check.equal(dispatcher:await(rw, "upgrade"), hold)
    check.equal(hold.token == rw:token() and hold.token > token, true)
    check.equal(hold:is_held() and rw:is_writing(), true)
    check.equal(dispatcher:await(rw, "downgrade"), hold)
    check.equal(hold:is_held() and rw:is_reading(), true)
    check.equal(dispatcher:await(hold, "unlock"), true)
    check.equal(dispatcher:await(rw, "with_read", function()
      -- On Lua 5.1 fn cannot wait.
      assert(rw:upgrade())
    end), true)
    check.equal(dispatcher:await(rw, "with_write", function()
      if _VERSION == "Lua 5.1" and not jit then
        assert(rw:downgrade())
      else
        assert(dispatcher:await(rw, "downgrade"))
        assert(dispatcher:await(rw, "upgrade"))
      end
    end), true)
  end)
  check_free(client, name)
end)

check.case("an upgrade that ends on a queue changes the hold with its event", function(name)
  local client = check.client()
  local rw, queue = client:rw(name), client:queue()
  check.equal(rw:with_read(function(hold)
    assert(rw:upgrade_async(queue, 1))
    local event = assert(queue:next(20000))
    check.equal(event.kind, mortise.EVENT_UPGRADED)
    check.equal(hold.token, event.token)
    check.equal(hold:is_held(), true)
  end), true)
  check.equal(rw:with_write(function(hold)
    assert(rw:downgrade_async(queue, 2))
    check.equal(hold:is_held() and rw:is_reading(), true)
  end), true)
  check_free(client, name)
end)

check.case("an upgrade that ends before its call returns changes the hold", function(name)
  local client = check.client {command_timeout = "60s"}
  local rw, queue = client:rw(name), client:queue()
  local hold = assert(rw:read_try())
  local calls, is_writing = rw.calls, rw.calls.is_writing
  function calls.is_writing(handle)
    local seen = is_writing(handle)
    let_go()
    check.eventually(function() return is_writing(handle) end)
    return seen
  end
  while_halted(function() assert(rw:upgrade_async(queue, 1)) end)
  calls.is_writing = is_writing
  check.equal(assert(queue:next(20000)).status, mortise.OK)
  check.equal(hold.token, rw:token())
  check.equal(hold:is_held(), true)
  check.equal(hold:unlock(), true)
  check_free(client, name)
end)

check.case("an upgrade that others prevent changes nothing, then or later", function(name)
  local client = check.client()
  local rw, other, queue = client:rw(name), client:rw(name), client:queue()
  local hold, too = assert(rw:read_try()), assert(other:read_try())
  assert(rw:upgrade_async(queue, 1))
  check.equal(assert(queue:next(20000)).status, mortise.NOT_ACQUIRED)
  check.equal(hold:is_held(), true)
  check.equal(hold:unlock(), true)
  check.equal(too:unlock(), true)
  -- A later hold is not the one that was to be changed.
  local token = hold.token
  assert(rw:write_acquire_async(queue, 2))
  check.equal(assert(queue:next(20000)).status, mortise.OK)
  check.equal(hold.token, token)
  check.outcome(mortise.NOT_OWNER, hold:unlock())
  check.equal(rw:is_writing(), true)
end)

check.case("a hold can be asked and ended before the event of its upgrade is taken", function(name)
  local client = check.client()
  local rw, queue = client:rw(name), client:queue()
  local hold = assert(rw:read_try())
  assert(rw:upgrade_async(queue, 1))
  check.eventually(function() return rw:is_writing() end)
  check.equal(hold:valid_ms() > 0, true)
  check.equal(hold:extend(), true)
  check.equal(hold:is_held(), true)
  check.equal(hold:unlock(), true)
  check.equal(assert(queue:next(20000)).status, mortise.OK)
  check.equal(hold:is_held(), false)

  hold = assert(rw:read_try())
  assert(rw:upgrade_async(queue, 1))
  check.eventually(function() return rw:is_writing() end)
  check.equal(hold:unlock(), true)
  check_free(client, name)
end)

check.case("an event changes the hold it is about, a change only what is held", function(name)
  local client = check.client()
  local first, second = client:rw(name), client:rw(name .. "'")
  local queue, too = client:queue(), client:rw(name .. "'")
  local hold, other = assert(first:read_try()), assert(second:read_try())
  assert(too:read_try())
  assert(second:upgrade_async(queue, 1))
  assert(first:upgrade_async(queue, 1))
  assert(queue:next(20000))
  assert(queue:next(20000))
  check.equal(hold:is_held() and first:is_writing(), true)
  check.equal(other:is_held() and second:is_reading(), true)
  check.equal(other:unlock(), true)

  other = assert(second:read_try())
  local token = other.token
  assert(second:read_unlock())
  assert(too:read_unlock())
  local present = assert(second:read_try())
  check.equal(second:upgrade(), present)
  check.equal(other.token, token)
  check.equal(other:is_held(), false)
  local value, message, code = other:unlock()
  check.outcome(mortise.LOST, value, message, code)
  check.equal(message, ('"%s": this hold has ended; its handle was acquired again'):format(
    name .. "'"))
  check.equal(present:unlock(), true)
end)

check.case("the hold of a reentrant owner changes when it is the only one", function(name)
  local client = check.client()
  local rw = client:rw(name, {reentrant = true})
  local outer, inner = assert(rw:read_try()), assert(rw:read_try())
  check.outcome(mortise.ALREADY_HELD, rw:upgrade())
  check.equal(outer:is_held() and inner:is_held(), true)
  check.equal(inner:unlock(), true)
  check.equal(rw:upgrade(), outer)
  check.equal(outer:is_held() and rw:is_writing(), true)

  -- The writer that has read goes on reading.
  inner = assert(rw:read_try())
  check.outcome(mortise.ALREADY_HELD, rw:downgrade())
  check.equal(outer:is_held() and inner:is_held(), true)
  check.equal(outer:unlock(), true)
  check.equal(rw:is_reading() and inner:is_held(), true)
  check.equal(rw:is_writing() or outer:is_held(), false)
  check.equal(rw:upgrade(), inner)
  check.equal(rw:downgrade(), inner)
  check.equal(inner:unlock(), true)
  check_free(client, name)
end)

check.case("blocks within blocks of a reentrant owner", function(name)
  local client = check.client()
  local rw = client:rw(name, {reentrant = true})
  check.equal(rw:with_read(function(outer)
    check.equal(rw:with_read(function()
      check.outcome(mortise.ALREADY_HELD, rw:upgrade())
    end), true)
    assert(rw:upgrade())
    check.equal(rw:with_write(function(inner)
      check.equal(inner.token, outer.token)
      check.equal(rw:with_read(function() return rw:is_reading() and rw:is_writing() end), true)
    end), true)
    check.equal(outer:is_held() and rw:is_writing(), true)
  end), true)
  check_free(client, name)
end)

check.case("a hold that was lost can be neither changed nor kept", function(name)
  local client = check.client()
  for _, mode in ipairs {"read", "write"} do
    local rw = client:rw(name .. mode, {lease = 60, renewal = false, reentrant = true})
    local hold = assert(rw[mode .. "_acquire"](rw, 20000))
    check.eventually(function() return not hold:is_held() end)
    local change = mode == "read" and "upgrade" or "downgrade"
    check.outcome(mortise.LOST, rw[change](rw))
    check.outcome(mortise.LOST, hold:unlock())
    -- A lost hold is released, so that the owner can begin again.
    assert(rw[mode .. "_acquire"](rw, 20000))
  end
end)

check.case("a hold that is lost while it is changed ends as lost", function(name)
  local client = check.client {command_timeout = "60s"}
  for _, mode in ipairs {"read", "write"} do
    local rw = client:rw(name .. mode, {lease = 300, renewal = false, reentrant = true})
    local hold = assert(rw[mode .. "_acquire"](rw, 20000))
    while_halted(function()
      check.outcome(mortise.LOST, rw[mode == "read" and "upgrade" or "downgrade"](rw))
    end)
    check.equal(hold:is_held(), false)
    check.outcome(mortise.LOST, hold:unlock())
    check.outcome(mortise.NOT_OWNER, hold:unlock())
    assert(rw[mode .. "_acquire"](rw, 20000))
  end
end)

check.case("a downgrade without an answer has changed the hold", function(name)
  local client = check.client {command_timeout = "200ms"}
  local rw = client:rw(name)
  local hold = assert(rw:write_try())
  while_halted(function()
    check.outcome(mortise.UNKNOWN, rw:downgrade())
    check.equal(hold:is_held() and rw:is_reading(), true)
  end)
  check.equal(hold:unlock(), true)
  check.eventually(function() return client:rw(name):write_try() end)
end)

check.case("an upgrade whose coroutine was closed is given back", function(name)
  local client = check.client()
  local dispatcher, rw = assert(new_dispatcher(client, check.park)), client:rw(name)
  local hold = assert(rw:read_try())
  local thread = coroutine.create(function() dispatcher:await(rw, "upgrade") end)
  assert(coroutine.resume(thread))
  check.close_coroutine(thread)
  check.dispatch_until(dispatcher, function() return not hold:is_held() end)
  check.outcome(mortise.NOT_OWNER, hold:unlock())
  check.eventually(function() return client:rw(name):write_try() end)
end)

-- ---- an unlock that is refused --------------------------------------------------------------

check.case("an unlock that is refused as busy does not end the hold", function(name)
  local client = check.client {command_timeout = "60s"}
  local rw, queue, dispatcher = client:rw(name), client:queue(), assert(new_dispatcher(client))
  local hold = assert(rw:read_try())
  while_halted(function()
    assert(rw:upgrade_async(queue, 1))
    check.outcome(mortise.BUSY, hold:unlock())
    check.outcome(mortise.BUSY, rw:read_unlock())
    check.equal(hold:is_held(), true)
    check.run(dispatcher, function()
      check.outcome(mortise.BUSY, dispatcher:await(hold, "unlock"))
    end)
    check.equal(hold:is_held(), true)
  end)
  local event = assert(queue:next(20000))
  check.equal(event.status, mortise.OK)
  check.equal(hold.token, event.token)
  check.equal(hold:is_held(), true)
  check.equal(hold:unlock(), true)
  check.outcome(mortise.NOT_OWNER, hold:unlock())
  check_free(client, name)
end)

check.case("the end of a block says that its unlock was refused", function(name)
  local client = check.client {command_timeout = "60s"}
  local rw, queue, dispatcher = client:rw(name), client:queue(), assert(new_dispatcher(client))
  local hold
  local function upgrade(mine)
    hold = mine
    halt()
    assert(rw:upgrade_async(queue, 1))
    return "done"
  end
  local function check_refused(value, message, code, given)
    let_go()
    check.outcome(mortise.BUSY, value, message, code)
    check.equal(given, "done")
    check.equal(assert(queue:next(20000)).status, mortise.OK)
    check.equal(hold:is_held() and rw:is_writing(), true)
    check.equal(hold:unlock(), true)
  end
  check_refused(rw:with_read(upgrade))
  check.run(dispatcher, function() check_refused(dispatcher:await(rw, "with_read", upgrade)) end)

  -- The end of a block cannot return, so it raises.
  upgrade(assert(rw:read_try()))
  local is_fine, problem = pcall(close, hold)
  check.equal(is_fine, false)
  check.equal(problem:find("upgrading it", 1, true) ~= nil, true, problem)
  check_refused(nil, problem, mortise.BUSY, "done")
  check_free(client, name)
end)

check.case("a block that ends with an error waits for an upgrade, and unlocks", function(name)
  local client = check.client {command_timeout = "60s"}
  local rw, queue, dispatcher = client:rw(name), client:queue(), assert(new_dispatcher(client))
  local calls, unlock = rw.calls, rw.calls.read_unlock_hold
  local refused
  -- The server goes on once the unlock was refused.
  function calls.read_unlock_hold(...)
    local is_ok, message, code, details = unlock(...)
    if code == mortise.BUSY then
      refused = true
      let_go()
    end
    return is_ok, message, code, details
  end
  local function fail()
    refused = false
    halt()
    assert(rw:upgrade_async(queue, 1))
    error("of the block", 0)
  end
  local function check_unlocked(problem)
    check.equal(problem, "of the block")
    check.equal(refused, true)
    check.equal(rw:is_reading() or rw:is_writing(), false)
    check.equal(assert(client:rw(name):query()).is_held, false)
    check.equal(assert(queue:next(20000)).kind, mortise.EVENT_UPGRADED)
  end

  local is_fine, trace = pcall(function()
    check_unlocked(select(2, pcall(rw.with_read, rw, fail)))
    local hold = assert(rw:read_try())
    local _, problem = pcall(fail)
    close(hold, problem)
    check_unlocked(problem)
    local thread = coroutine.create(function() dispatcher:await(rw, "with_read", fail) end)
    assert(coroutine.resume(thread))
    check_unlocked(select(2, pcall(dispatcher.dispatch, dispatcher, 20000)))
  end)
  calls.read_unlock_hold = unlock
  if not is_fine then error(trace, 0) end
end)

check.finish()
