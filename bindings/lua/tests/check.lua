--- What the tests share: cases, comparisons, and the server that tests/support/with_server started.
local mortise = require "mortise"

local check = {url = assert(os.getenv("MORTISE_TEST_URL"), "run under tests/support/with_server")}

--- A collector that never rests: an object without a reference is collected at once, in every run.
function check.collect_at_once(is_on)
  collectgarbage("setpause", is_on and 0 or 200)
  collectgarbage("setstepmul", is_on and 10000 or 200)
end
check.collect_at_once(true)

local cases, failed = 0, 0

--- A case; a name of a lock that no other case has is given to it.
function check.case(name, fn)
  cases = cases + 1
  local is_fine, trace = xpcall(function() fn("case " .. cases) end, debug.traceback)
  if is_fine then return end
  failed = failed + 1
  print(("%s: FAILED\n%s"):format(name, tostring(trace)))
end

--- The end of a test file. Closes the Lua state, with whatever is still there.
function check.finish()
  print(("%d cases, %d failed, on %s"):format(cases, failed, jit and jit.version or _VERSION))
  os.exit(cases > 0 and failed == 0 and 0 or 1, true)
end

function check.equal(got, expected, what)
  if got == expected then return end
  error(("%s is %s and has to be %s"):format(what or "it", tostring(got), tostring(expected)), 2)
end

--- What a call gave has to be nil, a message and this code.
function check.outcome(code, ...)
  local value, message, got = ...
  if value == nil and type(message) == "string" and message ~= "" and got == code then return end
  error(("got %s, %s, %s and not code %d"):format(tostring(value), tostring(message), tostring(got),
                                                  code), 2)
end

--- fn has to raise an error that blames this test's file and has this text.
function check.misuse(text, fn)
  local is_fine, message = pcall(fn)
  local here = debug.getinfo(fn, "S").short_src
  if is_fine then error("no error was raised for: " .. text, 2) end
  message = tostring(message)
  if not message:find(text, 1, true) or message:sub(1, #here) ~= here then
    error(("the error is %q and has to be from %s and to say %q"):format(message, here, text), 2)
  end
end

function check.client(options)
  return assert(mortise.open(check.url, options))
end

--- The output of redis-cli for a command, which is quoted as for a shell.
function check.redis(command)
  local socket = check.url:match("^unix://(.*)$")
  local pipe = assert(io.popen(("redis-cli -s '%s' %s"):format(socket, command)))
  local answer = pipe:read("*a")
  pipe:close()
  return (answer:gsub("%s+$", ""))
end

--- Waits until fn returns true, for as long as a slow machine may take.
function check.eventually(fn)
  local client = check.client()
  local queue = client:queue()
  for _ = 1, 2000 do
    if fn() then return end
    queue:next(10)
  end
  error("it never came to be", 2)
end

--- Dispatches until fn returns true.
function check.dispatch_until(dispatcher, fn)
  while not fn() do
    check.equal(assert(dispatcher:dispatch(20000)) > 0, true, "whether it went on")
  end
end

--- Runs fn in a coroutine and dispatches until it has ended; an error in it is raised.
function check.run(dispatcher, fn)
  local has_ended = false
  coroutine.wrap(function()
    fn()
    has_ended = true
  end)()
  check.dispatch_until(dispatcher, function() return has_ended end)
end

--- How a coroutine sleeps that check.close_coroutine can close.
function check.park()
  return function() if coroutine.yield() == "close" then error("closed") end end, error
end

--- Lua 5.4 does it by coroutine.close, other versions by an error where the coroutine sleeps.
function check.close_coroutine(thread)
  if coroutine.close then coroutine.close(thread) else coroutine.resume(thread, "close") end
end

return check
