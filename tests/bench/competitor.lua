-- The Lua competitor of the benchmark: executes each line, and answers by a line of numbers. The
-- arguments are the server's URL and the name of a lock.
local mortise = require "mortise"

local url, name = arg[1], arg[2]
local client = assert(mortise.open(url))
local lock = assert(client:lock(name))
local dispatcher = assert(require("mortise.dispatcher").new(client))
-- The waiters for the lock: its holder, how many joined, and the grants.
local crowd

local function acquire_and_unlock(handle, count)
  for _ = 1, count do
    local hold = assert(handle:acquire())
    assert(hold:unlock())
  end
end

local function read(handle, count)
  local hold = assert(handle:acquire())
  for _ = 1, count do
    if not handle:is_held() then error("the hold was lost") end
  end
  assert(hold:unlock())
end

-- Waits for the lock, as a coroutine.
local function wait_in_turn(number)
  local handle = assert(client:lock(name, {fair = "strict"}))
  local hold = assert(dispatcher:await(handle, "acquire"))
  crowd.grants[#crowd.grants + 1] = ("%d %.0f"):format(number, hold.token)
  assert(dispatcher:await(handle, "unlock"))
  handle:close()
end

-- Eight owners, each first come, first served, in a coroutine each.
local CONTENDERS = 8

local function contend(count)
  local left = CONTENDERS
  for _ = 1, CONTENDERS do
    coroutine.wrap(function()
      local handle = assert(client:lock(name, {fair = "strict"}))
      for _ = 1, count / CONTENDERS do
        local hold = assert(dispatcher:await(handle, "acquire"))
        assert(dispatcher:await(hold, "unlock"))
      end
      handle:close()
      left = left - 1
    end)()
  end
  while left > 0 do assert(dispatcher:dispatch(1000)) end
end

local answers = {}

-- Acquires and unlocks so often.
function answers.pairs(count)
  acquire_and_unlock(lock, count)
end

-- The same by `with`, each time with a handle of its own.
function answers.fresh(count)
  for _ = 1, count do
    local handle = assert(client:lock(name))
    assert(handle:with(function() end))
    handle:close()
  end
end

-- Has the lock so often in all, in turns.
function answers.contend(count)
  contend(count)
end

-- Asks a lock so often whether it is held.
function answers.readings(count)
  read(lock, count)
end

-- Takes the lock.
function answers.gate()
  crowd = {gate = assert(lock:acquire()), joined = 0, grants = {}}
end

-- One coroutine more waits for the lock, and unlocks it when it has it.
function answers.join()
  coroutine.wrap(wait_in_turn)(crowd.joined)
  crowd.joined = crowd.joined + 1
end

-- Unlocks the lock; when all were served, for each of them, in the order of the grants, its number
-- and its token.
function answers.serve()
  assert(crowd.gate:unlock())
  while #crowd.grants < crowd.joined do assert(dispatcher:dispatch(1000)) end
  return table.concat(crowd.grants, " ")
end

-- Pairs, each hundred by a handle of its own.
function answers.cycle(count)
  for _ = 1, count / 100 do
    local handle = assert(client:lock(name))
    acquire_and_unlock(handle, 100)
    handle:close()
  end
end

-- Collects garbage; 0, because resident memory has all of the rest.
function answers.memory()
  collectgarbage()
  collectgarbage()
end

for request in io.lines() do
  local what, count = request:match("^(%a+) ?(%d*)$")
  print(answers[what](tonumber(count)) or 0)
  io.flush()
end
