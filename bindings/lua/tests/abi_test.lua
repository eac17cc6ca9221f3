--- Each function of mortise.h has its counterpart here, or a reason why not.
local mortise = require "mortise"
local check = require "check"

local here = debug.getinfo(1, "S").source:match("^@(.*)tests/")
local file = assert(io.open(here .. "../../capi/include/mortise/mortise.h"))
local header = file:read("*a")
file:close()

-- Functions without a counterpart of their name: what replaces them, or the reason.
local OTHERWISE = {
  version = "VERSION_NUMBER", version_text = "version", status_text = "status_text",
  check_abi = "require asks it", get_api = "for dlopen from C",
  client_new = "open",
  error_new = "", error_free = "", error_status = "the third result", error_message = "the second",
  options_new = "", options_new_from = "", options_free = "", options_set = "the table of options",
  info_new = "", info_free = "", info_entry_count = "#holders + #waiters",
  info_shown_holder_count = "#holders",
  event_new = "", event_free = "", event_kind = "event.kind",
  event_leader = "event.leader of an observed election",
  event_reason = "event.reason of a loss or a risk", event_log_level = "event.level of a line",
  event_log_subject = "its subject", event_dropped_records = "its dropped_records",
  event_lock_kind = "event.lock_kind of a wait or a hold", event_time_us = "its time_us",
  event_handle_number = "its handle_number", event_lasted_us = "its lasted_us",
  log_level_text = "log_level_text", log_subject_text = "log_subject_text",
  health_count = "#findings", health_free = "", severity_text = "the severity is its text",
  listing_count = "#entries", listing_free = "", listing_text = "an entry's fields",
  listing_number = "an entry's fields",
  stats_count = "#samples", stats_free = "", stats_label_count = "the table of labels",
  stats_label_name = "its keys", stats_label_value = "its values",
  hold_id_new = "for the command", hold_id_free = "", hold_id_text = "an id is a string",
  hold_id_name = "for the command", hold_id_kind = "for the command",
  hold_id_is_exclusive = "for the command", hold_id_capacity = "for the command",
  hold_id_valid_until_ms = "for the command",
  queue_next_batch = "for languages where a call of C costs much",
}
-- Typed setters are keys of the table of options; these have another name there.
local KEYS = {fair_strict = "fair", drift_ppm = "drift"}

local functions = {}
for name in header:gmatch("\n[A-Z_ ]*MORTISE_API [^;]-mortise_([a-z_]+)%(") do
  functions[#functions + 1] = name
end

check.case("the header has functions", function() check.equal(#functions > 130, true) end)

check.case("each function has a counterpart or a reason", function(name)
  local client = check.client()
  local objects = {client = client, lock = client:lock(name), rw = client:rw(name),
                   semaphore = client:semaphore(name, 2), election = client:election(name),
                   multi = client:multi(), queue = client:queue()}
  assert(objects.lock:try())
  local answer = assert(objects.lock:query())
  local _, _, _, details = objects.rw:read_try()
  assert(objects.rw:read_acquire_async(objects.queue, 1))
  local event = assert(objects.queue:next(20000))
  local fields = {info = answer, info_entry = answer.holders[1], error = details, event = event,
                  event_error = event.details, health = assert(client:check_health()),
                  stats = assert(client:stats()),
                  listing = assert(client:list_locks(20000))}

  local function has(called)
    if OTHERWISE[called] then return true end
    -- These are what hold:unlock() calls.
    if called:find("_hold$") or called:find("_hold_async$") then return true end
    local kind, method = called:match("^(%a+)_(.+)$")
    local key = called:match("^options_set_(.+)$")
    if key then
      key = KEYS[key] or key:gsub("_ms$", "")
      local _, message = pcall(client.lock, client, name, {[key] = "\0"})
      return not message:find("option: ", 1, true)
    end
    if objects[kind] then
      if method == "new" then return type(client[kind]) == "function" end
      return type(objects[kind][method == "free" and "close" or method]) == "function"
    end
    local of_entry = called:match("^info_entry_(.+)$")
    if of_entry then return fields.info_entry[of_entry] ~= nil end
    if fields[kind][method] ~= nil then return true end
    return kind == "event" and fields.event_error[method] ~= nil or
      kind == "health" and fields.health.findings[1][method] ~= nil or
      kind == "listing" and fields.listing[method] ~= nil or
      kind == "stats" and fields.stats.samples[1][method] ~= nil
  end

  local missing = {}
  for _, called in ipairs(functions) do
    if not has(called) then missing[#missing + 1] = called end
  end
  check.equal(table.concat(missing, ", "), "", "what is missing")
end)

check.case("each constant of the header is there", function()
  local count = 0
  local function is_here(constant, value)
    count = count + 1
    -- An endless time of C is a negative number, which is no timeout in Lua.
    local expected = constant == "FOREVER" and math.huge or tonumber(value)
    check.equal(mortise[constant], expected, constant)
  end
  for constant, value in header:gmatch("\n  MORTISE_([A-Z_]+) = (%-?%d+)") do
    is_here(constant, value)
  end
  for constant, value in header:gmatch("\n#define MORTISE_([A-Z_]+) %(?(%-?%d+)%)?\n") do
    if constant ~= "RECORD_FIELDS" then is_here(constant, value) end
  end
  is_here("MAX_MS", header:match("MORTISE_MAX_MS INT64_C%((%d+)%)"))
  check.equal(count > 30, true)
end)

check.finish()
