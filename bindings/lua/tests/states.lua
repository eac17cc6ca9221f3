--- The script of each of several states, started by host.c: it loads the module, shares a lock with
--- the others, and is closed while everything is alive and in use.
local number = ...
local mortise = require "mortise"
local new_dispatcher = require("mortise.dispatcher").new

local client = assert(mortise.open(os.getenv("MORTISE_TEST_URL")))

for _ = 1, 20 do
  assert(client:lock("shared"):with(function(hold) assert(hold:is_held()) end, 60000))
end

local function name(text) return ("%s of %d"):format(text, number) end
local lock, rw = client:lock(name("lock"), {reentrant = true}), client:rw(name("rw"))
local semaphore, multi = client:semaphore(name("semaphore"), 3), client:multi()
local queue, dispatcher = client:queue(), assert(new_dispatcher(client))

local alive = {client, queue, dispatcher, lock, rw, semaphore, multi}
alive[#alive + 1] = assert(lock:try())
alive[#alive + 1] = assert(lock:try())
alive[#alive + 1] = assert(rw:read_try())
alive[#alive + 1] = assert(semaphore:try(2))
assert(multi:add_writer(client:rw(name("member"))))
alive[#alive + 1] = assert(multi:try())
assert(lock:watch(queue, 1))
assert(dispatcher:watch(rw, print))

-- These wait when the state is closed, by a queue and in coroutines.
for tag = 2, 10 do
  local waiting = client:lock(name("lock"))
  assert(waiting:acquire_async(queue, tag))
  if tag % 2 == 0 then alive[#alive + 1] = waiting end
  alive[#alive + 1] = coroutine.wrap(function()
    dispatcher:await(client:rw(name("rw")), "write_acquire")
  end)
  alive[#alive]()
end
assert(client:lock(name("deep")):with(function() collectgarbage() return alive end))

-- The objects that are closed before the state, and the order of the others, differ between states.
if number % 3 == 0 then client:close() end
if number % 4 == 0 then queue:close() end
if number % 5 == 0 then collectgarbage("stop") end
for _, kept in ipairs(number % 2 == 0 and alive or {}) do _G[tostring(kept)] = kept end
