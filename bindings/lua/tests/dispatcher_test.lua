--- Coroutines that wait by a dispatcher.
local mortise = require "mortise"
local check = require "check"
local new_dispatcher = require("mortise.dispatcher").new

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
  check.equal(dispatcher:is_idle(), false)
  while turns < 10 do assert(dispatcher:dispatch(20000)) end
  check.equal(dispatcher:is_idle(), true)
  dispatcher:close()
  dispatcher:close()
end)

check.case("a coroutine may close its dispatcher", function(name)
  local dispatcher = assert(new_dispatcher(check.client()))
  local lock = check.client():lock(name)
  local released
  coroutine.wrap(function()
    local hold = assert(dispatcher:await(lock, "acquire", 20000))
    dispatcher:close()
    released = hold:unlock()
  end)()
  check.equal(dispatcher:dispatch(20000), 1)
  check.equal(released, true)
end)

check.case("a coroutine that a close wakes may also close the dispatcher", function(name)
  local client = check.client()
  local dispatcher = assert(new_dispatcher(client))
  local holder = assert(check.client():lock(name):try())
  local code
  coroutine.wrap(function()
    code = select(3, dispatcher:await(client:lock(name), "acquire", 20000))
    dispatcher:close()
  end)()
  dispatcher:close()
  check.equal(code, mortise.CANCELLED)
  check.equal(dispatcher:is_idle(), true)
  check.equal(holder:unlock(), true)
end)

check.case("a dispatcher passes outcomes, misuse and losses on", function(name)
  local client = check.client()
  local dispatcher = assert(new_dispatcher(client))
  local holder = client:lock(name, {lease = 100, renewal = false})
  local lost
  assert(dispatcher:watch(holder, function(event)
    if event.kind == mortise.EVENT_LOST then lost = event.token end
  end))
  local hold = assert(holder:acquire(20000))
  local taken = name .. " by another"
  local other = assert(client:lock(taken):try()) -- collected, it would be released
  local outcome, raised
  coroutine.wrap(function()
    raised = select(2, coroutine.resume(coroutine.create(function()
      dispatcher:await(holder, "acquire", "soon")
    end)))
    outcome = {dispatcher:await(client:lock(taken), "try")}
  end)()
  while not outcome or not lost do assert(dispatcher:dispatch(20000)) end
  check.outcome(mortise.NOT_ACQUIRED, outcome[1], outcome[2], outcome[3])
  check.equal(lost, hold.token)
  check.equal(other:unlock(), true)
  check.equal(tostring(raised):match("_test.lua:%d+: timeout_ms has to be an integer") ~= nil, true)
  check.misuse("cannot await query: no such", function() dispatcher:await(holder, "query") end)
end)

check.case("a dispatcher reports the leader of an election", function(name)
  local client = check.client()
  local dispatcher = assert(new_dispatcher(client))
  local candidate, observer = client:election(name), client:election(name)
  local seen
  check.equal(dispatcher:observe(observer, function(event) seen = event end, 10), true)
  while not seen do assert(dispatcher:dispatch(20000)) end
  check.equal(seen.kind, mortise.EVENT_NO_LEADER)
  check.equal(seen.leader, nil)
  check.equal(observer:leader(), false)
  local _, token
  coroutine.wrap(function()
    _, token = dispatcher:await(candidate, "with", function(hold)
      check.equal(candidate:is_leader(), true)
      check.equal(hold:is_held(), true)
      check.equal(hold:set_value("10.0.0.5:8080"), true)
      return hold.token
    end, 20000)
  end)()
  while not token do assert(dispatcher:dispatch(20000)) end
  check.equal(token, candidate:token())
  local hold = assert(candidate:campaign(20000))
  check.equal(hold:set_value("second"), true)
  repeat assert(dispatcher:dispatch(20000)) until seen.leader and seen.leader.value == "second"
  check.equal(seen.kind, mortise.EVENT_LEADER)
  check.equal(observer:leader().owner, seen.leader.owner)
  check.equal(hold:unlock(), true)
  check.equal(dispatcher:observe(observer), true)
  check.misuse("cannot observe", function() dispatcher:observe(client:lock(name), print) end)
  check.misuse("fn has to be a function", function() dispatcher:observe(observer, 1) end)
  check.misuse("interval_ms: 9", function() observer:observe(dispatcher.queue, 1, 9) end)
end)

check.case("closing a dispatcher ends what waits", function(name)
  local client = check.client()
  local dispatcher = assert(new_dispatcher(client))
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

check.case("misuse is raised at the caller's line, and nothing is acquired", function(name)
  local client = check.client()
  local dispatcher, lock = assert(new_dispatcher(client)), client:lock(name)
  check.misuse("client has to be of type client, not nil", function() new_dispatcher() end)
  check.misuse("client has to be of type client", function() new_dispatcher(lock) end)
  check.misuse("where a coroutine can yield", function() dispatcher:await(lock, "try") end)
  check.misuse("cannot await try: no such", function() dispatcher:await(nil, "try") end)
  check.misuse("cannot await nil: no such", function() dispatcher:await(lock) end)
  check.misuse("fn has to be a function, not nil", function() dispatcher:await(lock, "with") end)
  check.misuse("fn has to be a function, not number", function() dispatcher:watch(lock, 5) end)
  check.misuse("cannot watch mortise.client; give", function() dispatcher:watch(client, print) end)
  check.misuse("timeout_ms has to be an integer", function() dispatcher:dispatch("now") end)
  check.outcome(mortise.NOT_OWNER, lock:unlock())
  check.equal(dispatcher:dispatch(), 0)
  lock:close()
  check.run(dispatcher, function()
    local sleeper = coroutine.create(function() dispatcher:await(lock, "try") end)
    local _, message = coroutine.resume(sleeper)
    check.equal(message:match("_test.lua:%d+: this lock is closed$") ~= nil, true, message)
  end)
  dispatcher:close()
  check.misuse("this queue is closed", function() dispatcher:dispatch() end)
end)

-- Lua 5.1 does not allow a yield under pcall.
check.case("an await under pcall waits, or says that it cannot before it begins", function(name)
  local client = check.client()
  local dispatcher, lock = assert(new_dispatcher(client)), client:lock(name)
  local can = _VERSION ~= "Lua 5.1" or jit ~= nil
  check.run(dispatcher, function()
    local is_fine, got = pcall(function() return assert(dispatcher:await(lock, "try")) end)
    check.equal(is_fine, can, tostring(got))
    check.equal(lock:is_held(), can)
    if not can then check.equal(got:find("where a coroutine can yield", 1, true) ~= nil, true) end
  end)
end)

check.case("a hold is extended and unlocked without blocking", function(name)
  local client = check.client()
  local dispatcher, rw = assert(new_dispatcher(client)), client:rw(name)
  check.run(dispatcher, function()
    local reading = assert(dispatcher:await(rw, "read_acquire", 20000))
    check.equal(dispatcher:await(reading, "extend", 60000), true)
    check.equal(reading:valid_ms() > 30000, true)
    check.equal(dispatcher:await(reading, "unlock"), true)
    check.outcome(mortise.NOT_OWNER, dispatcher:await(reading, "unlock"))
    check.equal(rw:is_reading(), false)
  end)
  check.misuse("cannot await valid_ms: no such", function()
    dispatcher:await(assert(rw:read_try()), "valid_ms")
  end)
end)

check.case("a with that is awaited lets others run, and unlocks whatever happens", function(name)
  local client = check.client()
  local dispatcher, problem, left = assert(new_dispatcher(client)), {}, 3
  local inside, turns = 0, 0
  for _ = 1, 3 do
    coroutine.wrap(function()
      local lock = client:lock(name)
      local is_ok, given = dispatcher:await(lock, "with", function(hold)
        inside = inside + 1
        check.equal(inside, 1)
        check.equal(hold:is_held(), true)
        inside, turns = inside - 1, turns + 1
        return turns
      end, 20000)
      check.equal(is_ok, true)
      check.equal(given > 0, true)
      check.equal(lock:is_held(), false)
      left = left - 1
    end)()
  end
  check.equal(turns, 0)
  check.dispatch_until(dispatcher, function() return left == 0 end)

  local lock = client:lock(name)
  local failing = coroutine.create(function()
    dispatcher:await(lock, "with", function() error(problem) end)
  end)
  assert(coroutine.resume(failing))
  repeat
    local _, raised = pcall(dispatcher.dispatch, dispatcher, 20000)
  until raised == problem
  check.equal(lock:is_held(), false)

  check.run(dispatcher, function()
    local semaphore, rw = client:semaphore(name .. "s", 3), client:rw(name .. "r")
    check.equal(select(2, dispatcher:await(semaphore, "with", function()
      return assert(semaphore:query()).permits_in_use
    end, 2)), 2)
    check.equal(select(2, dispatcher:await(rw, "with_write", function()
      return rw:is_writing()
    end, 20000)), true)
    check.equal(rw:is_writing() or semaphore:is_held(), false)
    local blocker = assert(client:lock(name):try())
    check.outcome(mortise.TIMED_OUT, dispatcher:await(lock, "with", error, 10))
    check.equal(blocker:unlock(), true)
    -- The queue takes no more calls, and the lock is given back all the same.
    check.equal(dispatcher:await(lock, "with", function() dispatcher.queue:shutdown() end), true)
    check.equal(lock:is_held(), false)
  end)
end)

check.case("a with that is awaited tells that the hold was lost", function(name)
  local client = check.client()
  local dispatcher = assert(new_dispatcher(client))
  local lock = client:lock(name, {lease = 60, renewal = "off"})
  check.run(dispatcher, function()
    local value, message, code, given = dispatcher:await(lock, "with", function(hold)
      check.eventually(function() return not hold:is_held() end)
      return "done"
    end)
    check.outcome(mortise.LOST, value, message, code)
    check.equal(given, "done")
  end)
end)

check.case("two coroutines that wait with one handle", function(name)
  local client = check.client()
  local dispatcher, lock = assert(new_dispatcher(client)), client:lock(name)
  local holder, hold = assert(client:lock(name):try()), nil
  coroutine.wrap(function() hold = assert(dispatcher:await(lock, "acquire", 20000)) end)()
  check.run(dispatcher, function()
    check.outcome(mortise.BUSY, dispatcher:await(lock, "acquire", 20000))
  end)
  assert(holder:unlock())
  check.dispatch_until(dispatcher, function() return hold end)
  check.run(dispatcher, function()
    check.outcome(mortise.ALREADY_HELD, dispatcher:await(lock, "acquire", 20000))
  end)
  check.equal(hold:unlock(), true)
end)

check.case("what is closed ends the coroutines that wait for it", function(name)
  local client, other = check.client(), check.client()
  local dispatcher, outcomes = assert(new_dispatcher(client)), {}
  local holder = other:lock(name) -- collected, it would be released
  assert(holder:try())
  local locks = {client:lock(name), client:lock(name)}
  for place, lock in ipairs(locks) do
    coroutine.wrap(function()
      outcomes[place] = select(3, dispatcher:await(lock, "acquire"))
    end)()
  end
  locks[1]:close()
  check.dispatch_until(dispatcher, function() return outcomes[1] end)
  check.equal(outcomes[2], nil)
  client:close()
  check.dispatch_until(dispatcher, function() return outcomes[2] end)
  check.equal(outcomes[1], mortise.CLOSED)
  check.equal(outcomes[2], mortise.CLOSED)
  dispatcher:close()
end)

check.case("a grant for a coroutine that was closed is given back", function(name)
  local client = check.client()
  local dispatcher, lock = assert(new_dispatcher(client, check.park)), client:lock(name)
  local holder = assert(client:lock(name):try())
  local thread = coroutine.create(function() dispatcher:await(lock, "acquire") end)
  assert(coroutine.resume(thread))
  check.close_coroutine(thread)
  check.equal(coroutine.status(thread), "dead")
  assert(holder:unlock())
  check.dispatch_until(dispatcher, function() return client:lock(name):try() end)
  check.equal(lock:is_held(), false)
end)

check.case("a grant is given back when the queue takes no more calls", function(name)
  local client = check.client()
  local dispatcher, lock = assert(new_dispatcher(client, check.park)), client:lock(name)
  local holder = assert(client:lock(name):try())
  local thread = coroutine.create(function() dispatcher:await(lock, "acquire") end)
  assert(coroutine.resume(thread))
  check.close_coroutine(thread)
  assert(holder:unlock())
  check.eventually(function() return lock:is_held() end)
  dispatcher:close()
  check.equal(lock:is_held(), false)
end)

check.case("a lock that a woken coroutine drops is collected before it sleeps again", function(name)
  local client = check.client()
  local dispatcher, holder = assert(new_dispatcher(client)), client:lock(name .. "'")
  local function take()
    local lock = client:lock(name)
    assert(dispatcher:await(lock, "acquire"))
  end
  check.run(dispatcher, function()
    take()
    collectgarbage()
    collectgarbage()
    check.eventually(function() return client:lock(name):try() end)
    -- So is a hold.
    local hold = assert(holder:try())
    local dropped = setmetatable({hold}, {__mode = "v"})
    assert(dispatcher:await(hold, "unlock"))
    hold = nil -- luacheck: ignore 311
    collectgarbage()
    collectgarbage()
    check.equal(dropped[1], nil, "what the hold is")
  end)
end)

check.case("a watch is replaced and ended", function(name)
  local client = check.client()
  local dispatcher = assert(new_dispatcher(client))
  local lock = client:lock(name, {lease = 90, renewal = false})
  local first, kinds = 0, {}
  assert(dispatcher:watch(lock, function() first = first + 1 end))
  assert(dispatcher:watch(lock, function(event) kinds[#kinds + 1] = event.kind end))
  assert(lock:acquire(20000))
  check.dispatch_until(dispatcher, function() return #kinds == 2 end)
  check.equal(kinds[1], mortise.EVENT_AT_RISK)
  check.equal(kinds[2], mortise.EVENT_LOST)
  check.outcome(mortise.LOST, lock:unlock())
  assert(dispatcher:watch(lock, nil))
  assert(lock:acquire(20000))
  check.eventually(function() return not lock:is_held() end)
  check.outcome(mortise.LOST, lock:unlock())
  check.equal(dispatcher:dispatch(100), 0)
  check.equal(first, 0)
  check.equal(#kinds, 2)
end)

check.case("a hold that was lost before its watch is reported at once", function(name)
  local client = check.client()
  local dispatcher = assert(new_dispatcher(client))
  local function watch(object)
    local events = {}
    assert(dispatcher:watch(object, function(event) events[#events + 1] = event end))
    return events
  end
  local lock = client:lock(name, {lease = 90, renewal = false})
  local hold = assert(lock:acquire(20000))
  check.eventually(function() return not hold:is_held() end)
  check.equal(#watch(lock), 0)
  local events = watch(hold)
  check.equal(#events, 1)
  check.equal(events[1].kind, mortise.EVENT_LOST)
  check.equal(events[1].status, mortise.LOST)
  check.equal(events[1].token, hold.token)
  check.equal(events[1].hold_number, hold.number)
  check.equal(events[1].lock_name, name)
  check.outcome(mortise.LOST, hold:unlock())
  check.outcome(mortise.NOT_OWNER, dispatcher:watch(hold, print))

  -- A hold that lasts is reported later, and a later hold does not hide a loss.
  lock = client:lock(name .. "/2")
  hold = assert(lock:acquire(20000))
  events = watch(hold)
  check.equal(#events, 0)
  check.redis(("del '{mortise:%s/2}'"):format(name))
  check.outcome(mortise.LOST, hold:extend())
  check.dispatch_until(dispatcher, function() return #events == 2 end)
  check.equal(events[2].kind, mortise.EVENT_LOST)
  local later = assert(lock:acquire(20000))
  events = watch(hold)
  check.equal(#events, 1)
  check.equal(events[1].hold_number, hold.number)
  check.equal(later:unlock(), true)
end)

check.case("a watched lock is collected with its callback", function(name)
  local client = check.client()
  local dispatcher = assert(new_dispatcher(client))
  local function use()
    local lock, election = client:lock(name), client:election(name .. "e")
    assert(dispatcher:watch(lock, function() return lock end))
    assert(dispatcher:observe(election, function() return election end))
    assert(lock:try())
  end
  use()
  collectgarbage()
  collectgarbage()
  check.eventually(function() return client:lock(name):try() end)
  check.equal(next(dispatcher.watchers), nil, "what the dispatcher keeps")

  local lock, dropped = client:lock(name .. "c"), setmetatable({}, {__mode = "k"})
  local function watch()
    local seen = {}
    dropped[seen] = true
    assert(dispatcher:watch(lock, function() return seen end))
  end
  watch()
  collectgarbage()
  collectgarbage()
  check.equal(next(dropped) ~= nil, true)
  lock:close()
  collectgarbage()
  collectgarbage()
  check.equal(next(dropped), nil, "what a closed lock keeps")
end)

check.case("a watch that is replaced on another dispatcher is quiet", function(name)
  local client = check.client()
  local first, second = assert(new_dispatcher(client)), assert(new_dispatcher(client))
  local lock = client:lock(name, {lease = 90, renewal = false})
  local early, lost = 0, false
  assert(first:watch(lock, function() early = early + 1 end))
  assert(lock:acquire(20000))
  check.eventually(function() return not lock:is_held() end)
  check.outcome(mortise.LOST, lock:unlock())
  assert(second:watch(lock, function(event) lost = event.kind == mortise.EVENT_LOST end))
  assert(lock:acquire(20000))
  check.dispatch_until(second, function() return lost end)
  first:dispatch()
  check.equal(early, 0)
end)

check.case("dispatch leaves the rest for later when there is much", function(name)
  local client = check.client()
  local dispatcher, ended = assert(new_dispatcher(client)), 0
  for index = 1, 300 do
    coroutine.wrap(function()
      assert(dispatcher:await(client:lock(name .. "/" .. index), "try"))
      ended = ended + 1
    end)()
  end
  -- Replies come in order, so all have come when this one has.
  assert(client:ping())
  check.equal(dispatcher:dispatch(20000) <= 256, true)
  check.equal(ended < 300, true)
  check.dispatch_until(dispatcher, function() return ended == 300 end)
end)

check.finish()
