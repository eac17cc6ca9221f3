-- The driver in Lua: executes the runner's commands, one a line. README.md has the lines.
local mortise = require "mortise"

local names = {}
for name, value in pairs(mortise) do
  if type(value) == "number" and value >= -100 and value <= 100 and not name:find("^EVENT_")
    and not name:find("^REASON_") and not name:find("^SEVERITY_") and not name:find("^LOG_")
    and name ~= "FOREVER" and not name:find("^M[AI][XN]_") and not name:find("^VERSION")
    and name ~= "ABI_MAJOR" and name ~= "RECORD_FIELDS" then
    names[value] = name:lower()
  end
end

local handles, tags, holds, made, queue = {}, {}, {}, {}, nil
local FIRST_CALL = 1000

local function encode(text)
  return (tostring(text):gsub("[^%w]", function(c) return ("%%%02X"):format(c:byte()) end))
end

local function decode(text)
  return (text:gsub("%%(%x%x)", function(digits) return string.char(tonumber(digits, 16)) end))
end

local function fields(status, token, value, text, details)
  local parts = {names[status]}
  if details then
    parts[#parts + 1] = ("retryable=%d ambiguous=%d"):format(details.is_retryable and 1 or 0,
                                                             details.is_ambiguous and 1 or 0)
    parts[#parts + 1] = "printed=" .. encode(details.server_text)
  end
  if token and token ~= 0 then parts[#parts + 1] = ("token=%.0f"):format(token) end
  if value then parts[#parts + 1] = ("value=%.0f"):format(value) end
  if text and text ~= "" then parts[#parts + 1] = "text=" .. encode(text) end
  return table.concat(parts, " ")
end

-- The status, value, message and details of a call that may raise: misuse is an invalid argument.
local function outcome(call, ...)
  local results = {pcall(call, ...)}
  if not results[1] then return mortise.INVALID_ARGUMENT, nil, results[2] end
  if results[2] == nil and results[4] then return results[4], nil, results[3], results[5] end
  return mortise.OK, results[2]
end

-- ---- new ------------------------------------------------------------------------------------

local function add_members(multi, members)
  for name, mode in members:gmatch("([^,:]+):?([^,:]*)") do
    local member = handles[name]
    local status, _, text
    if mode == "read" then
      status, _, text = outcome(multi.object.add_reader, multi.object, member.object)
    elseif mode == "write" then
      status, _, text = outcome(multi.object.add_writer, multi.object, member.object)
    elseif mode ~= "" then
      status, _, text =
        outcome(multi.object.add_semaphore, multi.object, member.object, tonumber(mode))
    else
      status, _, text = outcome(multi.object.add_lock, multi.object, member.object)
    end
    if status ~= mortise.OK then return status, text end
  end
  return mortise.OK
end

local function make(kind, given, options)
  if kind == "client" then return outcome(mortise.open, given.url, options) end
  local client = handles[given.client].object
  if kind == "multi" then return outcome(client.multi, client) end
  if kind == "semaphore" then
    return outcome(client.semaphore, client, given.name, tonumber(given.permits), options)
  end
  return outcome(client[kind], client, given.name, options)
end

local function new(kind, name, given)
  local options
  for key, value in pairs(given) do
    if key:find("^opt%.") then
      options = options or {}
      options[key:sub(5)] = value
    end
  end
  local status, object, text, details = make(kind, given, options)
  if status == mortise.OK then
    local handle = {kind = kind, object = object, tag = #tags + 1}
    made[#made + 1] = object
    if given.members then status, text = add_members(handle, given.members) end
    if status == mortise.OK then
      handles[name] = handle
      tags[handle.tag] = name
      if kind == "client" and not queue then queue = object:queue() end
    end
  end
  return fields(status, nil, nil, text, details)
end

-- ---- calls ----------------------------------------------------------------------------------

local function arguments(kind, method, given)
  local list = {}
  if kind == "semaphore" and (method == "try" or method == "acquire") then
    list[#list + 1] = tonumber(given.weight or 1)
  end
  local timeout_ms = tonumber(given.timeout_ms)
  if timeout_ms == -1 then timeout_ms = mortise.FOREVER end
  if method:find("acquire$") or method == "campaign" then list[#list + 1] = timeout_ms end
  if method == "extend" then list[#list + 1] = tonumber(given.lease_ms) end
  if method == "set_value" then list[#list + 1] = given.value end
  if method == "set_task" then list[#list + 1] = tonumber(given.task) end
  if method == "interrupt" then list[#list + 1] = (given.is_on or "1") == "1" end
  if method == "set_credentials" then
    list[#list + 1] = given.user
    list[#list + 1] = given.password
  end
  if method == "force_release" then list[#list + 1] = given.owner end
  if method == "export" then list[#list + 1] = tonumber(given.lease_ms) end
  if method == "adopt" then list[#list + 1] = given.id end
  if method == "resize" then list[#list + 1] = tonumber(given.permits) end
  return list
end

local unpack = table.unpack or unpack -- luacheck: ignore 113

local function call_queue(method, given)
  if method == "shut_down" then
    queue:shutdown()
  else
    queue:close()
    queue = handles.client.object:queue(tonumber(given.permits))
  end
  return fields(mortise.OK)
end

-- A call on what an acquire gave.
local function call_hold(hold, method, given)
  local object = hold.object
  if method == "token" then return fields(mortise.OK, nil, object.token) end
  local status, result, text, details
  if method == "upgrade" or method == "downgrade" then
    status, result, text, details = outcome(hold.owner[method], hold.owner)
  else
    status, result, text, details =
      outcome(object[method], object, given.value or tonumber(given.lease_ms))
  end
  local value
  if method == "is_held" then value = result and 1 or 0 end
  if type(result) == "number" then value = result end
  if type(result) == "string" then text = result end
  return fields(status, status == mortise.OK and object.token, value, text, details)
end

-- Whether it is `name`, `label=value` and so on, in any order.
local function is_sample(sample, of)
  local count = 0
  for label, value in pairs(sample.labels) do
    if not (of .. " "):find(" " .. label .. "=" .. value .. " ", 1, true) then return false end
    count = count + 1
  end
  return of:match("^%S+") == sample.name and select(2, of:gsub("=", "")) == count
end

-- What was found when the server was checked: of all, as JSON, or of one matter.
local function check_health(client, method, of)
  local status, found, text, details = outcome(client[method], client)
  local value
  if found and not of then value = mortise["SEVERITY_" .. found.worst:upper()] end
  if found and of == "json" then value, text = #found.findings, found.json end
  for _, finding in ipairs(found and found.findings or {}) do
    if finding.name == of then
      value = mortise["SEVERITY_" .. finding.severity:upper()]
      text = table.concat({finding.severity, finding.server, finding.value, finding.consequence,
                           finding.remedy}, "\n")
      break
    end
  end
  return fields(status, nil, value, text, details)
end

-- What the client has counted: how much, as JSON, or one sample by its name and labels.
local function stats(client, of)
  local status, counted, text, details = outcome(client.stats, client)
  local value
  if counted and not of then value, text = #counted.samples, counted.json end
  for _, sample in ipairs(counted and counted.samples or {}) do
    if of and is_sample(sample, of) then value, text = math.floor(sample.value), sample.type end
  end
  return fields(status, nil, value, text, details)
end

-- The answers of all clients: how many, as JSON, or one field of all entries.
local function listing(of, ...)
  local status, taken, text, details = outcome(...)
  local value
  if taken and not of then value, text = taken.answered, taken.json end
  if taken and of == "unheard" then value, text = taken.silent + taken.truncated, nil end
  if taken and of and of ~= "unheard" then
    local texts = {}
    value = 0
    for _, entry in ipairs(taken.entries or taken.events) do
      local field = assert(entry[of], of)
      if type(field) == "number" then value = value + field else texts[#texts + 1] = field end
    end
    text = table.concat(texts, "\n")
  end
  return fields(status, nil, value, text, details)
end

local function call(name, method, given)
  if name == "queue" then return call_queue(method, given) end
  if holds[name] then return call_hold(holds[name], method, given) end
  local handle = handles[name]
  local object = handle.object
  if method == "free" then
    object:close()
    return fields(mortise.OK)
  end
  if method:find("_health$") then return check_health(object, method, given.of) end
  local timeout_ms = tonumber(given.timeout_ms)
  if method == "list_locks" then return listing(given.of, object.list_locks, object, timeout_ms) end
  if method == "scan_locks" then
    return listing(given.of, object.scan_locks, object, given.pattern or "",
                  tonumber(given.most_keys or 1000), timeout_ms)
  end
  if method == "list_history" then
    return listing(given.of, object.list_history, object, given.lock,
                  tonumber(given.window_ms or 60000), timeout_ms)
  end
  if method == "stats" then return stats(object, given.of) end
  if method == "fork" then
    local code = require("fork")(function() return -select(3, object:ping()) end)
    return fields(-code)
  end
  if method == "watch" then
    local status, _, text = outcome(object.watch, object, queue, handle.tag)
    return fields(status, nil, nil, text)
  end
  if method == "watch_log" or method == "watch_stats" then
    local mode = tonumber(given.level or given.interval_ms)
    local status, _, text = outcome(object[method], object, mode and queue, handle.tag, mode)
    return fields(status, nil, nil, text)
  end
  if method == "watch_locks" then
    local status, _, text = outcome(object.watch_locks, object, given.is_on == "1" and queue or nil,
                                    handle.tag)
    return fields(status, nil, nil, text)
  end
  if method == "observe" then
    local interval_ms = tonumber(given.interval_ms)
    local status, _, text = outcome(object.observe, object, interval_ms and queue, handle.tag,
                                    interval_ms)
    return fields(status, nil, nil, text)
  end
  if method == "force_release" and not given.owner then
    local first = object:query().holders[1]
    given.owner = first and first.owner or ""
  end
  local status, result, text, details =
    outcome(object[method], object, unpack(arguments(handle.kind, method, given)))
  local token, value
  if given.gives and result then holds[given.gives] = {object = result, owner = object} end
  if method == "query" and result then
    value = result[given.of or "waiter_count"]
    if given.of == "retained" then
      value = 0
      for _, holder in ipairs(result.holders) do value = value + (holder.is_retained and 1 or 0) end
    end
    if given.of == "label" then text = result.holders[1].label end
    if given.of == "value" then
      text = result.holders[1] and result.holders[1].value or ""
      value = #text
    end
    if type(value) == "boolean" then value = value and 1 or 0 end
  elseif type(result) == "table" then
    token = result.token
  elseif type(result) == "string" then
    text = result
  elseif type(result) == "number" then
    value = result
  elseif method:find("^is_") then
    value = result and 1 or 0
  elseif object.token and status == mortise.OK then
    token = object:token()
  end
  return fields(status, token, value, text, details)
end

local function start(id, name, method, given)
  local handle = handles[name]
  local object = handle.object
  local status, _, text, details = outcome(object[method .. "_async"], object, queue,
    FIRST_CALL + tonumber(id), unpack(arguments(handle.kind, method, given)))
  return fields(status, nil, nil, text, details)
end

local function pump(timeout_ms)
  local event = queue:next(timeout_ms)
  while event do
    if event.kind == mortise.EVENT_LOG then
      print(("notice %s %s value=%d reason=%d text=%s"):format(tags[event.tag],
        mortise.log_subject_text(event.subject), event.level, event.reason or 0,
        encode(event.message)))
    elseif event.tag < FIRST_CALL then
      local kinds = {[mortise.EVENT_LOST] = "lost", [mortise.EVENT_STATS] = "stats",
                     [mortise.EVENT_CONTENDED] = "contended", [mortise.EVENT_LEADER] = "leader",
                     [mortise.EVENT_NO_LEADER] = "no_leader",
                     [mortise.EVENT_WAIT_BEGAN] = "wait_began",
                     [mortise.EVENT_WAIT_FAILED] = "wait_failed",
                     [mortise.EVENT_HOLD_BEGAN] = "hold_began",
                     [mortise.EVENT_HOLD_CHANGED] = "hold_changed",
                     [mortise.EVENT_HOLD_ENDED] = "hold_ended"}
      local text = event.leader and event.leader.value or event.message or ""
      if event.lock_kind then
        text = ("%s %s %s"):format(event.lock_kind, event.lock_name, names[event.status])
      end
      print(("notice %s %s token=%.0f reason=%d text=%s"):format(tags[event.tag],
        kinds[event.kind] or "at_risk", event.token, event.reason or 0,
        encode(text)))
    else
      print(("done %.0f %s"):format(event.tag - FIRST_CALL,
        fields(event.status, event.token, nil, event.message, event.details)))
    end
    event = queue:next(0)
  end
  return fields(mortise.OK)
end

-- Frees everything, so that the next run finds a driver as if it had just started.
local function reset()
  for i = #made, 1, -1 do made[i]:close() end
  if queue then queue:close() end
  handles, tags, holds, made, queue = {}, {}, {}, {}, nil
  collectgarbage()
  return fields(mortise.OK)
end

for line in io.lines() do
  local words, given = {}, {}
  for word in line:gmatch("%S+") do
    local key, value = word:match("^([^=]+)=(.*)$")
    if key then given[key] = decode(value) else words[#words + 1] = word end
  end
  local id, what = words[1], words[2]
  local answer
  if what == "new" then answer = new(words[3], words[4], given) end
  if what == "call" then answer = call(words[3], words[4], given) end
  if what == "start" then answer = start(id, words[3], words[4], given) end
  if what == "pump" then answer = pump(tonumber(given.timeout_ms)) end
  if what == "reset" then answer = reset() end
  print(id .. " " .. answer)
  io.stdout:flush()
end
-- A program that is done, and frees nothing: a state that is closed would.
os.exit(0)
