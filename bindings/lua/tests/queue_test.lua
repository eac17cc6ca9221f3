local mortise = require "mortise"
local check = require "check"

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

check.case("a client's log is events", function(name)
  local client = check.client()
  local queue, lock = client:queue(1), client:lock(name)
  assert(client:watch_log(queue, 5, mortise.LOG_LEVEL_ERROR))
  local hold = assert(lock:try())
  check.redis(("del '{mortise:%s}'"):format(name))
  check.outcome(mortise.LOST, hold:extend())
  local event = assert(queue:next(20000))
  check.equal(event.kind, mortise.EVENT_LOG)
  check.equal(event.tag, 5)
  check.equal(event.level, mortise.LOG_LEVEL_ERROR)
  check.equal(mortise.log_level_text(event.level), "error")
  check.equal(event.subject, mortise.LOG_LOST)
  check.equal(mortise.log_subject_text(event.subject), "lost")
  check.equal(event.dropped_records, 0)
  check.equal(event.lock_name, name)
  check.equal(event.reason, mortise.REASON_SERVER_LOST)
  check.equal(event.status, mortise.LOST)
  check.equal(#event.message > 0, true)
  assert(client:watch_log())
  check.misuse("level", function() client:watch_log(queue, 5, 4) end)
end)

check.case("statistics are due as events", function()
  local client = check.client()
  local queue = client:queue(1)
  assert(client:watch_stats(queue, 6, 10))
  for _ = 1, 3 do
    local event = assert(queue:next(20000))
    check.equal(event.kind, mortise.EVENT_STATS)
    check.equal(event.tag, 6)
  end
  assert(client:watch_stats())
  check.misuse("interval_ms", function() client:watch_stats(queue, 6, 9) end)
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

check.case("what waits on a queue ends with its handle or client", function(name)
  local client, other = check.client(), check.client()
  local holder = other:lock(name) -- collected, it would be released
  assert(holder:try())
  local queue, first, second = client:queue(), client:lock(name), client:lock(name)
  assert(first:acquire_async(queue, 1))
  assert(second:acquire_async(queue, 2))
  first:close()
  local event = assert(queue:next(20000))
  check.equal(event.tag, 1)
  check.equal(event.status, mortise.CLOSED)
  client:close()
  event = assert(queue:next(20000))
  check.equal(event.tag, 2)
  check.equal(event.status, mortise.CLOSED)
  check.outcome(mortise.CLOSED, second:acquire_async(queue, 3))
end)

check.finish()
