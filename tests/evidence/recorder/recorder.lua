-- recorder.lua URL PROCESS CLIENTS NAMES SEED FOLDER: uses locks by way of the Lua binding, as
-- recorder.c does by way of the C ABI, until a signal ends it. It has one client, and writes to no
-- register. LuaJIT runs it, for the clock.
local ffi = require "ffi"
local mortise = require "mortise"

ffi.cdef [[
typedef struct { int64_t seconds, nanoseconds; } recorder_time;
int clock_gettime(int clock, recorder_time* now);
int usleep(unsigned microseconds);
]]

local CAPACITY, BOOT_TIME = 3, 7
local url, process, _, names, seed, folder = ...
local history = assert(io.open(folder .. "/" .. process .. ".jsonl", "a"))
history:setvbuf("full", 4096)
math.randomseed(tonumber(seed))

local status_names = {}
for _, name in ipairs {"NOT_ACQUIRED", "TIMED_OUT", "CANCELLED", "LOST", "NOT_OWNER", "UNREACHABLE",
                       "UNKNOWN", "REFUSED", "ALREADY_HELD", "BUSY", "LIMIT"} do
  status_names[mortise[name]] = name:lower()
end

local function chance(limit) return math.random(0, limit - 1) end

local time = ffi.new "recorder_time"
local function now()
  ffi.C.clock_gettime(BOOT_TIME, time)
  return tonumber(time.seconds) * 1e9 + tonumber(time.nanoseconds)
end

-- One write for each line, because the process may be killed at any time.
local function write(owner, op, call, more)
  local handle = owner.handle
  local line = ('{"process":%s,"client":0,"owner":%d,"kind":"%s","name":"%s","op":"%s",' ..
    '"call_ns":%.0f,"return_ns":%.0f,"token":%.0f,"hold":%.0f,"lease_end_ns":%.0f'):format(
    process, owner.number, owner.kind, owner.name, op, call, now(), handle:token(),
    handle:hold_number(), handle:deadline_ns())
  if owner.kind == "rw" then
    line = line .. (',"mode":"%s"'):format(owner.is_writer and "write" or "read")
  elseif owner.kind == "semaphore" then
    line = line .. (',"permits":%d,"capacity":%d'):format(owner.permits, CAPACITY)
  end
  history:write(line, more, "}\n")
  history:flush()
end

local function finish(owner, op, call, is_ok, code)
  local status = is_ok and "ok" or status_names[code] or "error"
  write(owner, op, call, (',"status":"%s"'):format(status))
end

local function acquire(owner, timeout_ms)
  local handle = owner.handle
  if owner.kind == "semaphore" then
    if timeout_ms == 0 then return handle:try(owner.permits) end
    return handle:acquire(owner.permits, timeout_ms)
  end
  local prefix = owner.kind ~= "rw" and "" or owner.is_writer and "write_" or "read_"
  if timeout_ms == 0 then return handle[prefix .. "try"](handle) end
  return handle[prefix .. "acquire"](handle, timeout_ms)
end

local function is_held(owner)
  local handle = owner.handle
  if owner.kind ~= "rw" then return handle:is_held() end
  if owner.is_writer then return handle:is_writing() end
  return handle:is_reading()
end

local function work(owner)
  for _ = 0, chance(4) do
    local call = now()
    local is = is_held(owner)
    write(owner, "is_held", call, is and ',"held":true' or ',"held":false')
    if not is then return end
    if chance(4) == 0 then ffi.C.usleep(chance(4000)) end
    if chance(12) == 0 then
      call = now()
      local is_ok, _, code = owner.handle:extend()
      finish(owner, "extend", call, is_ok, code)
    end
  end
end

local function use(owner)
  owner.is_writer = owner.kind ~= "rw" or chance(3) == 0
  owner.permits = 1 + chance(CAPACITY)
  local timeout_ms = chance(5) == 0 and 0 or 1 + chance(2000)
  local call = now()
  local hold, _, code = acquire(owner, timeout_ms)
  finish(owner, timeout_ms == 0 and "try" or "acquire", call, hold, code)
  if not hold then return end
  work(owner)
  call = now()
  local is_ok
  is_ok, _, code = hold:unlock()
  finish(owner, "unlock", call, is_ok, code)
end

-- A server that restarts refuses connections for a while.
local client
repeat client = mortise.open(url) until client
local owners = {}
for name in names:gmatch "[^,]+" do
  local owner = {number = #owners, name = name, kind = name:match "^%a+"}
  if owner.kind == "rw" then
    owner.handle = client:rw(name)
  elseif owner.kind == "semaphore" then
    owner.handle = client:semaphore(name, CAPACITY)
  else
    owner.handle = client:lock(name)
  end
  owners[#owners + 1] = owner
end
while true do use(owners[1 + chance(#owners)]) end
