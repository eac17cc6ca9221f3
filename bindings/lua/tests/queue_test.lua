local mortise = require "mortise"
local check = require "check"
local new_dispatcher = require("mortise.dispatcher").new

check.case("each accepted call ends in one event with its tag", function(name)
  local client = check.client()
  local queue, count = client:queue(), 20
  local locks = {}
  for tag = 1, count do
    locks[tag] = client:lock(name)
    assert(locks[tag]:acquire_async(queue, tag, 20000))
  end
  local token, served = 0, 0
  while served < count do
    local event = assert(queue:next(20000))
    if event.kind == mortise.EVENT_ACQUIRED then
      check.equal(event.status, mortise.OK)
      check.equal(event.token > token, true)
      check.equal(event.message, nil)
      token = event.token
      assert(locks[event.tag]:unlock_async(queue, count + event.tag))
    else
      check.equal(event.kind, mortise.EVENT_UNLOCKED)
      check.equal(event.tag > count, true)
      served = served + 1
    end
  end
  check.outcome(mortise.TIMED_OUT, queue:next(0))
end)

check.case("a queue is woken, shut down and drained", function(name)
  local client = check.client()
  local queue, lock = client:queue(1), client:lock(name)
  check.equal(queue:fd() >= 0, true)
  queue:wake()
  check.outcome(mortise.TIMED_OUT, queue:next())
  assert(client:lock(name):try())
  local holder = client:lock(name .. "x")
  assert(holder:try())
  assert(client:lock(name .. "x"):acquire_async(queue, 1))
  check.outcome(mortise.LIMIT, lock:acquire_async(queue, 2))
  queue:shutdown()
  check.equal(assert(queue:next(20000)).tag, 1)
  check.outcome(mortise.SHUT_DOWN, queue:next(20000))
  check.outcome(mortise.SHUT_DOWN, lock:acquire_async(queue, 3))
end)

check.case("an event tells the details of an error", function(name)
  check.redis(("set '{mortise:%s}' theirs"):format(name))
  local client = check.client()
  local queue, lock = client:queue(), client:lock(name)
  assert(lock:acquire_async(queue, 1, 5000))
  local event = assert(queue:next(20000))
  check.equal(event.status, mortise.REFUSED)
  check.equal(event.details.server_text:match("^%u+"), "FOREIGN")
  check.equal(#event.message > 0, true)
end)

check.case("coroutines take turns", function(name)
  local client = check.client()
  local dispatcher = assert(new_dispatcher(client))
  local turns, inside = 0, 0
  for _ = 1, 10 do
    coroutine.wrap(function()
      local lock = client:lock(name)
      local hold = assert(dispatcher:await(lock, "acquire", 20000))
      inside = inside + 1
      check.equal(inside, 1)
      check.equal(hold:is_held(), true)
      check.equal(dispatcher:await(lock, "extend", 60000), true)
      inside = inside - 1
      check.equal(dispatcher:await(lock, "unlock"), true)
      turns = turns + 1
    end)()
  end
  check.equal(turns, 0)
  while turns < 10 do assert(dispatcher:dispatch(20000)) end
  dispatcher:close()
  dispatcher:close()
end)

check.case("a dispatcher passes outcomes, misuse and losses on", function(name)
  local client = check.client()
  local dispatcher = assert(new_dispatcher(client))
  local holder = client:lock(name, {lease = 100, renewal = false})
  local lost
  assert(dispatcher:watch(holder, function(event)
    if event.kind == mortise.EVENT_LOST then lost = event.token end
  end))
  local hold = assert(holder:try())
  local outcome, raised
  coroutine.wrap(function()
    raised = select(2, pcall(dispatcher.await, dispatcher, holder, "acquire", "soon"))
    outcome = {dispatcher:await(client:lock(name), "try")}
  end)()
  while not outcome or not lost do assert(dispatcher:dispatch(20000)) end
  check.outcome(mortise.NOT_ACQUIRED, outcome[1], outcome[2], outcome[3])
  check.equal(lost, hold.token)
  check.equal(tostring(raised):find("timeout_ms has to be an integer", 1, true) ~= nil, true)
  check.misuse("there is no query to await", function() dispatcher:await(holder, "query") end)
end)

check.case("closing a dispatcher ends what waits", function(name)
  local client = check.client()
  local dispatcher = assert(new_dispatcher(client))
  assert(client:lock(name):try())
  local outcome
  local blocker = client:lock(name .. "x")
  assert(blocker:try())
  coroutine.wrap(function()
    outcome = {dispatcher:await(client:lock(name .. "x"), "acquire")}
  end)()
  check.equal(outcome, nil)
  dispatcher:close()
  check.equal(outcome[3], mortise.CANCELLED)
end)

check.case("a coroutine that somebody else wakes sleeps on", function(name)
  local client = check.client()
  local dispatcher = assert(new_dispatcher(client))
  local holder, hold = client:lock(name), nil
  assert(holder:try())
  local sleeper = coroutine.create(function()
    hold = assert(dispatcher:await(client:lock(name), "acquire", 20000))
  end)
  assert(coroutine.resume(sleeper))
  assert(coroutine.resume(sleeper))
  check.equal(coroutine.status(sleeper), "suspended")
  collectgarbage()
  assert(holder:unlock())
  while not hold do assert(dispatcher:dispatch(20000)) end
  check.equal(hold:is_held(), true)
end)

check.case("an error in a woken coroutine comes out of dispatch", function(name)
  local client = check.client()
  local dispatcher = assert(new_dispatcher(client))
  coroutine.wrap(function()
    assert(dispatcher:await(client:lock(name), "acquire", 20000))
    error("mine")
  end)()
  local is_fine, message
  repeat is_fine, message = pcall(dispatcher.dispatch, dispatcher, 20000) until not is_fine
  check.equal(message:find("mine", 1, true) ~= nil, true)
end)

check.finish()
