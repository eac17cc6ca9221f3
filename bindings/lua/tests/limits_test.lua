--- Names of any bytes, numbers at their limits, collected handles, and forked processes.
local mortise = require "mortise"
local check = require "check"
local fork = require "fork"

local EXACT = 2 ^ 53

-- A number of /proc/self/status, such as VmRSS in KiB.
local function of_process(what)
  for line in io.lines("/proc/self/status") do
    local value = line:match("^" .. what .. ":%s*(%d+)")
    if value then return tonumber(value) end
  end
end

check.case("a name is any bytes", function()
  local client = check.client()
  for _, name in ipairs {"a\0b", "\0", "\255\254", "}{", "\240\159\148\146", ("x"):rep(1024)} do
    local hold = assert(client:lock(name):try())
    check.outcome(mortise.NOT_ACQUIRED, client:lock(name):try())
    assert(hold:unlock())
  end
  local nul, lock = client:lock("a\0b"), client:lock("\240\159\148\146")
  assert(nul:try())
  assert(lock:try())
  check.outcome(mortise.NOT_ACQUIRED, client:lock("a\0b"):try())
  assert(client:lock("a\0c"):try())
  check.equal(check.redis("exists '{mortise:\240\159\148\146}'"), "1")
  check.equal(check.redis([[--no-raw keys '{mortise:a?b}']]), [[1) "{mortise:a\x00b}"]])
end)

check.case("integers up to 2^53 are exact", function(name)
  local client = check.client()
  local queue, lock = client:queue(), client:lock(name)
  for _, tag in ipairs {EXACT, -EXACT, EXACT - 1, 0, -1} do
    assert(lock:try_async(queue, tag))
    local event = assert(queue:next(20000))
    check.equal(event.tag, tag)
    check.equal(("%.0f"):format(event.tag), ("%.0f"):format(tag))
    check.equal(event.token, lock:token())
    -- The server's own digits.
    check.equal(("%.0f"):format(event.token), check.redis("get mortise:fence"))
    assert(lock:unlock())
  end
  check.misuse("tag has to be an integer up to 2^53", function() lock:try_async(queue, 2 ^ 54) end)
  check.misuse("timeout_ms", function() lock:acquire(EXACT) end)
  if math.maxinteger then
    check.equal(math.type(lock:token()), "integer")
    check.equal(math.type(queue:fd()), "integer")
    assert(lock:try_async(queue, math.maxinteger))
    check.equal(assert(queue:next(20000)).tag, math.maxinteger)
  end
  check.equal(mortise.MAX_MS, 31622400000)
  check.misuse("timeout_ms", function() lock:acquire(mortise.MAX_MS + 1) end)
end)

check.case("a collected lock gives its hold back", function(name)
  local client = check.client()
  assert(client:lock(name):try())
  check.eventually(function()
    collectgarbage()
    return client:lock(name):try()
  end)
end)

check.case("collecting what is in use is harmless", function(name)
  local holder = check.client():lock(name)
  collectgarbage()
  assert(holder:try())
  local queue = holder.client:queue()
  for tag = 1, 50 do assert(holder.client:lock(name):acquire_async(queue, tag)) end
  collectgarbage()
  collectgarbage()
  for _ = 1, 50 do check.equal(assert(queue:next(20000)).status, mortise.CLOSED) end
  for _ = 1, 50 do
    assert(holder.client:lock(name):acquire_async(holder.client:queue(), 1))
  end
  collectgarbage()
  collectgarbage()
  check.equal(holder:is_held(), true)
  check.equal(holder:unlock(), true)
end)

-- The memory of many calls, with the collector as programs use it.
check.collect_at_once(false)
check.case("a million calls leave nothing behind", function(name)
  local lock = check.client():lock(name, {reentrant = true})
  assert(lock:try())
  local function cycle(times)
    for _ = 1, times do
      assert(lock:try())
      assert(lock:unlock())
    end
    collectgarbage()
    collectgarbage()
    return of_process("VmRSS")
  end
  local before = cycle(100000)
  local after = cycle(900000)
  check.equal(after - before < 2048, true, ("growth of %d KiB"):format(after - before))
end)

check.case("ten thousand coroutines wait in order, on few threads", function(name)
  local client, most = check.client(), 10000
  local dispatcher = assert(require("mortise.dispatcher").new(client))
  local holder = assert(client:lock(name):try())
  local served = 0
  collectgarbage()
  local before_kib = of_process("VmRSS")
  for index = 1, most do
    coroutine.wrap(function()
      local lock = client:lock(name)
      local hold = assert(dispatcher:await(lock, "acquire"))
      served = served + 1
      check.equal(served, index)
      assert(dispatcher:await(hold, "unlock"))
    end)()
  end
  collectgarbage()
  check.equal(of_process("Threads") <= 4, true)
  local kib = (of_process("VmRSS") - before_kib) / most
  check.equal(kib < 16, true, kib .. " KiB for each")
  assert(holder:unlock())
  while served < most do assert(dispatcher:dispatch(20000)) end
end)
check.collect_at_once(true)

check.case("a forked process can do nothing with its parent's locks", function(name)
  local client = check.client()
  local lock, queue, rw = client:lock(name), client:queue(), client:rw(name .. 2)
  local hold = assert(lock:try())
  local code = fork(function()
    check.outcome(mortise.FORKED, hold:unlock())
    check.outcome(mortise.FORKED, lock:unlock())
    check.outcome(mortise.FORKED, lock:try())
    check.outcome(mortise.FORKED, rw:read_try())
    check.outcome(mortise.FORKED, client:ping())
    check.outcome(mortise.FORKED, client:lock(name))
    check.outcome(mortise.FORKED, queue:next(0))
    check.equal(lock:is_held(), false)
    check.equal(queue:fd(), -1)
    -- One of its own is another owner.
    local own = check.client()
    check.outcome(mortise.NOT_ACQUIRED, own:lock(name):try())
    assert(own:lock(name .. 3):try())
    -- Nor does collecting them do anything.
    client, lock, queue, rw, hold = nil, nil, nil, nil, nil
    collectgarbage()
    collectgarbage()
    return 7
  end)
  check.equal(code, 7)
  check.equal(hold:is_held(), true)
  check.equal(hold:unlock(), true)
end)

check.finish()
