--- Tasks of coroutines: their deadlocks end with the option `deadlock`.
local mortise = require "mortise"
local check = require "check"
local new_dispatcher = require("mortise.dispatcher").new

local unpack = table.unpack or unpack -- luacheck: ignore 113
local FAILING = {deadlock = "fail"}

-- Makes a lock of a task.
local function of_task(client, name, task)
  local lock = client:lock(name, FAILING)
  check.equal(lock:set_task(task), true)
  return lock
end

check.case("one of two coroutines in a circle fails", function(name)
  local client = check.client()
  local dispatcher = assert(new_dispatcher(client))
  local names, ended, deadlocks = {name .. " 1", name .. " 2"}, 0, 0
  for task = 1, 2 do
    coroutine.wrap(function()
      local hold = assert(dispatcher:await(of_task(client, names[task], task), "acquire", 20000))
      -- The acquire of the other coroutine has begun, because nothing was dispatched before.
      local other, message, code =
        dispatcher:await(of_task(client, names[3 - task], task), "acquire", 20000)
      if other then
        check.equal(dispatcher:await(other, "unlock"), true)
      else
        check.equal(code, mortise.DEADLOCK)
        check.equal(message:find(", which this task holds", 1, true) ~= nil, true)
        deadlocks = deadlocks + 1
      end
      check.equal(dispatcher:await(hold, "unlock"), true)
      ended = ended + 1
    end)()
  end
  check.dispatch_until(dispatcher, function() return ended == 2 end)
  check.equal(deadlocks, 1)
end)

check.case("each kind of lock has tasks", function(name)
  local client = check.client()
  local queue = client:queue()
  local lock, rw = client:lock(name), client:rw(name .. " rw")
  local semaphore, election = client:semaphore(name .. " s", 2), client:election(name .. " e")
  local multi = client:multi()
  assert(multi:add_lock(client:lock(name, FAILING)))
  local waits = {
    {client:rw(name .. " rw", FAILING), "write_acquire_async", {20000}},
    {client:semaphore(name .. " s", 2, FAILING), "acquire_async", {2, 20000}},
    {client:election(name .. " e", FAILING), "campaign_async", {20000}},
    {multi, "acquire_async", {20000}},
  }
  for _, each in ipairs {lock, rw, semaphore, election} do
    check.equal(each:set_task(5), true)
  end
  local holds = {assert(lock:acquire(20000)), assert(rw:read_acquire(20000)),
                 assert(semaphore:acquire(1, 20000)), assert(election:campaign(20000))}
  for tag, wait in ipairs(waits) do
    local owner, method, arguments = unpack(wait)
    check.equal(owner:set_task(5), true)
    assert(owner[method](owner, queue, tag, unpack(arguments)))
    local event = assert(queue:next(20000))
    check.equal(event.tag, tag)
    check.equal(event.status, mortise.DEADLOCK)
    check.equal(event.message:find("this task holds it", 1, true) ~= nil, true)
  end
  for _, hold in ipairs(holds) do check.equal(hold:unlock(), true) end
end)

check.case("a blocking acquire belongs to its task, and without one to its thread", function(name)
  local client = check.client()
  local hold = assert(client:lock(name):acquire(20000))
  local again = of_task(client, name, 1)
  check.outcome(mortise.TIMED_OUT, again:acquire(2500))
  check.equal(again:set_task(0), true)
  check.outcome(mortise.DEADLOCK, again:acquire(20000))
  check.equal(hold:unlock(), true)
end)

check.case("a wrong number of a task is an error", function(name)
  local client = check.client()
  local lock = client:lock(name)
  check.misuse("task: -1 is out of range", function() lock:set_task(-1) end)
  check.misuse("task has to be an integer", function() lock:set_task("one") end)
  check.misuse("task has to be an integer up to 2^53, not nil", function() lock:set_task() end)
  check.misuse("task: -1 is out of range", function() client:multi():set_task(-1) end)
  check.equal(lock:set_task(2 ^ 53), true)
  client:close()
  check.outcome(mortise.CLOSED, lock:set_task(1))
end)

check.finish()
