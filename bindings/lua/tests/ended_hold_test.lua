--- A hold that has ended stays so, whatever its handle does later.
local mortise = require "mortise"
local check = require "check"
local new_dispatcher = require("mortise.dispatcher").new

-- A loss has details, as every other has.
local function check_lost(name, ...)
  check.outcome(mortise.LOST, ...)
  local details = select(4, ...)
  check.equal(details.lock_name, name)
  check.equal(details.is_retryable or details.is_ambiguous, false)
end

check.case("a lost hold of a reader stays lost while its handle reads again", function(name)
  local client = check.client()
  local dispatcher = assert(new_dispatcher(client))
  -- This one goes on reading, so that all others get its token.
  local keeper = assert(client:rw(name):read_try())
  local function reader() return client:rw(name, {max_hold = "2s"}) end
  local plain, awaited, block = reader(), reader(), reader()
  local early, other = assert(plain:read_try()), assert(awaited:read_try())

  local late_in_block
  check.outcome(mortise.LOST, block:with_read(function(hold)
    for _, each in ipairs {early, other, hold} do
      check.eventually(function() return not each:is_held() end)
    end
    late_in_block = assert(block:read_try())
    check.equal(late_in_block.token, hold.token, "the token in the block")
    check.equal(hold:is_held(), false)
  end))
  check.equal(late_in_block:is_held(), true)

  local late, another = assert(plain:read_try()), assert(awaited:read_try())
  check.equal(late.token == early.token and late.token == keeper.token, true, "one token")
  check.equal(late.number, early.number + 1)
  check.equal(plain:hold_number(), late.number)
  check.equal(early:is_held(), false)
  check.equal(early:valid_ms(), 0)
  check_lost(name, early:extend())
  check_lost(name, early:progress())
  check_lost(name, early:unlock())
  check.outcome(mortise.NOT_OWNER, early:unlock())
  check.run(dispatcher, function()
    check_lost(name, dispatcher:await(other, "extend"))
    check_lost(name, dispatcher:await(other, "unlock"))
  end)

  for _, each in ipairs {late, another, late_in_block} do
    check.equal(each:is_held(), true)
    check.equal(each:unlock(), true)
  end
  check.equal(keeper:unlock(), true)
  assert(check.client():rw(name):write_try())
end)

check.case("a value that a later hold has is not that of this one", function(name)
  local lock, late = check.client():lock(name), nil
  local early = assert(lock:try())
  local calls = lock.calls
  -- An acquire in the background replaces the hold after the first check.
  local function set_value(...)
    assert(lock:unlock())
    late = assert(lock:try())
    return calls.set_value(...)
  end
  lock.calls = setmetatable({set_value = set_value}, {__index = calls})
  check_lost(name, early:set_value("text"))
  lock.calls = nil
  check.equal(late:set_value("text"), true)
  check.equal(late:unlock(), true)
end)

check.case("an exported hold is continued by one adopter", function(name)
  local client = check.client()
  local first, second = client:lock(name), client:lock(name)
  local held = assert(first:try())
  check.equal(pcall(held.export, held, 1), false, "a lease of 1 ms")
  local id = assert(held:export(60000))
  check.equal(held:is_held(), false)
  check.outcome(mortise.NOT_OWNER, held:unlock())
  check.outcome(mortise.NOT_OWNER, held:export())
  check.outcome(mortise.NOT_OWNER, first:export())
  local adopted = assert(second:adopt(id))
  check.equal(adopted:is_held(), true)
  check.equal(adopted.token > held.token, true)
  check.outcome(mortise.NOT_OWNER, first:adopt(id))
  check.outcome(mortise.ALREADY_HELD, second:adopt(id))
  assert(second:export())
  assert(assert(first:adopt(id)):unlock())
  check.outcome(mortise.NOT_OWNER, first:adopt(id))
  check.equal(pcall(first.adopt, first, "no id"), false)
end)

check.case("a reader, a writer and a user of permits have ids", function(name)
  local client = check.client()
  local rw = client:rw(name)
  for _, side in ipairs {"read", "write"} do
    local held = assert(rw[side .. "_try"](rw))
    local adopted = assert(rw:adopt(assert(held:export(60000))))
    check.equal(rw:is_writing(), side == "write")
    assert(adopted:unlock())
  end
  local permits, others = client:semaphore(name .. "/s", 3), client:semaphore(name .. "/s", 3)
  local adopted = assert(permits:adopt(assert(assert(permits:try(2)):export(60000))))
  check.outcome(mortise.NOT_ACQUIRED, others:try(2))
  assert(adopted:unlock())
  local multi = client:multi()
  multi:add_lock(client:lock(name .. "/m"))
  check.outcome(mortise.UNSUPPORTED, assert(multi:try()):export(60000))
end)

check.case("a change is made of the present hold only", function(name)
  local client = check.client()
  local rw, keeper = client:rw(name), client:rw(name)
  local queue, kept = client:queue(), assert(keeper:read_try())
  local early = assert(rw:read_try())
  assert(rw:read_unlock())
  local late = assert(rw:read_try())
  check.equal(late.token, early.token)
  assert(kept:unlock())
  assert(rw:upgrade_async(queue, 1))
  local event = assert(queue:next(20000))
  check.equal(event.hold_number, late.number)
  check.equal(late.token, event.token)
  check.equal(early.token < late.token, true)
  check.equal(rw:downgrade(), late)
  check.equal(early:is_held(), false)
  check.outcome(mortise.LOST, early:unlock())
  check.equal(late:is_held(), true)
  check.equal(late:unlock(), true)
end)

check.case("a lost member that is acquired by itself is not the multi's", function(name)
  local client = check.client()
  local multi, queue = client:multi(), client:queue()
  local lock, rw = client:lock(name .. "l"), client:rw(name .. "r")
  assert(multi:add_lock(lock))
  assert(multi:add_reader(rw))
  -- So that a member's number differs from that of the multi.
  assert(assert(rw:read_try()):unlock())
  local early = assert(multi:try())
  assert(multi:watch(queue, 3))
  check.redis(("del '{mortise:%sr}'"):format(name))
  check.outcome(mortise.LOST, early:extend())
  local event
  repeat event = assert(queue:next(20000)) until event.kind == mortise.EVENT_LOST
  check.equal(event.hold_number, rw:hold_number())
  check.equal(event.hold_number, early.number + 1)
  check.outcome(mortise.LOST, rw:read_unlock())
  local own = assert(rw:read_try())
  check.equal(early:is_held(), false)
  check.outcome(mortise.LOST, early:unlock())
  check.equal(own:is_held(), true)
  check.equal(lock:is_held(), false)
  check.equal(own:unlock(), true)

  early = assert(multi:try())
  assert(multi:unlock())
  local late = assert(multi:try())
  check.equal(late.number, early.number + 1)
  check.outcome(mortise.LOST, early:unlock())
  check.equal(late:is_held(), true)
  check.equal(late:unlock(), true)
end)

check.case("what a coroutine gets is the hold of its event", function(name)
  local client = check.client()
  local woken
  -- A loop that wakes a sleeper later than its event comes.
  local dispatcher = assert(new_dispatcher(client, function()
    local sleeper = coroutine.running()
    return coroutine.yield, function() woken = sleeper end
  end))
  local rw, hold = client:rw(name), nil
  local sleeper = coroutine.create(function() hold = dispatcher:await(rw, "read_try") end)
  assert(coroutine.resume(sleeper))
  check.dispatch_until(dispatcher, function() return woken end)
  assert(rw:read_unlock())
  local late = assert(rw:read_try())
  assert(coroutine.resume(woken))
  check.equal(hold.number, late.number - 1)
  check.equal(hold:is_held(), false)
  check.outcome(mortise.LOST, hold:unlock())
  check.equal(late:unlock(), true)
end)

check.finish()
