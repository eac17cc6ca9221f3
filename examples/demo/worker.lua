-- The demo's worker in Lua: worker.c has the contract, and the same order of reading.
local mortise = require "mortise"
local fcntl = require "posix.fcntl"
local time = require "posix.time"
local unistd = require "posix.unistd"

local VALUE_LINE = "%20.0f %20.0f\n"

local function now_ms()
  local now = time.clock_gettime(time.CLOCK_MONOTONIC)
  return now.tv_sec * 1000 + math.floor(now.tv_nsec / 1000000)
end

local function tell(format, ...)
  io.write(format:format(...), "\n")
end

-- From half of the average to one and a half.
local function take_a_pause(self)
  local end_ms = now_ms() + self.pause_ms * (0.5 + math.random())
  repeat
    -- A signal may cut it short.
    local left_ms = end_ms - now_ms()
    if left_ms > 0 then
      time.nanosleep {tv_sec = math.floor(left_ms / 1000), tv_nsec = left_ms % 1000 * 1000000}
    end
  until left_ms <= 0
end

-- ---- the store: see store.h -----------------------------------------------------------------

local function read_value(descriptor)
  assert(unistd.lseek(descriptor, 0, unistd.SEEK_SET))
  local number, token = assert(unistd.read(descriptor, 160)):match("^ *(%d+) +(%d+)\n")
  return assert(tonumber(number), "the number cannot be read"), tonumber(token)
end

-- Runs `work` with the file FOLDER/NAME, which is closed after it in any case.
local function with_file(self, name, flags, work)
  local descriptor = assert(fcntl.open(self.folder .. "/" .. name, flags + fcntl.O_CLOEXEC))
  local results = {pcall(work, descriptor)}
  unistd.close(descriptor)
  if not results[1] then error(results[2], 0) end
  return unpack(results, 2)
end

local function write_all(descriptor, line)
  assert(unistd.write(descriptor, line) == #line, "a line was not written as a whole")
end

local function append_record(self, line)
  with_file(self, "writes", fcntl.O_WRONLY + fcntl.O_APPEND, function(writes)
    write_all(writes, line)
  end)
end

-- What stood there, and whether it was written.
local function store_write(self, value, token)
  return with_file(self, "number", fcntl.O_RDWR, function(number)
    local whole = {l_type = fcntl.F_WRLCK, l_whence = unistd.SEEK_SET, l_start = 0, l_len = 0}
    assert(fcntl.fcntl(number, fcntl.F_SETLKW, whole))
    local _, highest = read_value(number)
    local process = unistd.getpid()
    if self.is_safe and token < highest then
      append_record(self, ("refused %d %.0f %.0f %.0f\n"):format(process, value, token, highest))
      return false, highest
    end
    append_record(self, ("wrote %d %.0f %.0f\n"):format(process, value, token))
    assert(unistd.lseek(number, 0, unistd.SEEK_SET))
    write_all(number, VALUE_LINE:format(value, token))
    return true, highest
  end)
end

-- ---- the work -------------------------------------------------------------------------------

local function open_lock(self, url, name, lease_ms)
  self.client = assert(mortise.open(url, {lease = lease_ms}))
  self.lock = self.client:lock(name)
end

local function increment(self, token)
  tell("held %.0f", token)
  local number = with_file(self, "number", fcntl.O_RDONLY, read_value)
  take_a_pause(self)
  number = number + 1
  local is_written, highest = store_write(self, number, token)
  if is_written then
    self.count = self.count + 1
    tell("wrote %.0f %.0f", number, token)
  else
    tell("refused %.0f %.0f %.0f", number, token, highest)
  end
end

-- One turn: false when the time is up.
local function take_turn(self)
  local left_ms = self.end_ms - now_ms()
  if left_ms <= 0 then return false end
  if not self.is_safe then
    increment(self, 0)
    return true
  end

  local hold, message, code = self.lock:acquire(left_ms)
  if not hold then
    if code == mortise.TIMED_OUT or code == mortise.NOT_ACQUIRED then return false end
    -- The time was up between the request and its reply: the library releases the lock.
    if code == mortise.UNKNOWN and now_ms() >= self.end_ms then return false end
    error("acquire: " .. message, 0)
  end
  increment(self, hold.token)
  local is_unlocked
  is_unlocked, message, code = hold:unlock()
  if not is_unlocked and code ~= mortise.LOST then error("unlock: " .. message, 0) end
  tell("%s %.0f", is_unlocked and "free" or "lost", hold.token)
  return true
end

local function work(self, url, name, run_ms, lease_ms)
  if self.is_safe then open_lock(self, url, name, lease_ms) end
  tell("ready")
  io.read("*a")
  self.end_ms = now_ms() + run_ms
  while take_turn(self) do end
  tell("done %.0f", self.count)
  if self.client then self.client:close() end
end

if #arg ~= 7 then
  io.stderr:write("usage: worker.lua URL LOCK FOLDER RUN_MS LEASE_MS PAUSE_MS safe|unsafe\n")
  os.exit(2)
end
io.stdout:setvbuf("line")
math.randomseed(unistd.getpid())
local self = {folder = arg[3], pause_ms = tonumber(arg[6]), is_safe = arg[7] ~= "unsafe", count = 0}
local is_good, failure = pcall(work, self, arg[1], arg[2], tonumber(arg[4]), tonumber(arg[5]))
if not is_good then tell("failed %s", tostring(failure):gsub("\n.*", "")) end
os.exit(is_good and 0 or 1)
