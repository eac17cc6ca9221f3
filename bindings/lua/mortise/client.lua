--- A connection to one deployment. It makes locks and queues.
local listing = require "mortise.listing"
local core = require "mortise.core"
local health = require "mortise.health"
local handle = require "mortise.handle"
local locks = require "mortise.locks"
local options_of = require "mortise.options"
local queue = require "mortise.queue"
local stats = require "mortise.stats"

local client = handle.class("client", core.client_free)

client.ping = handle.method(core.client_ping)

-- Makes a method that reads the result of a request to the client into a table.
local function reading(find, read)
  return function(self, ...)
    local found, message, code, details = find(handle.unwrap(self), ...)
    if found then return read(found) end
    if code == core.INVALID_ARGUMENT then error(message, 2) end
    return nil, message, code, details
  end
end

--- check_health(): checks the health of the servers, as far as it matters to locks. Returns a table
-- with worst, json and findings. Each finding has name, severity ("ok", "unknown", "warn" or
-- "bad"), server, value, consequence and `remedy`, which explains how to fix it.
client.check_health = reading(core.client_check_health, health)

--- last_health(): returns the last result of a health check, without a request to a server.
client.last_health = reading(core.client_last_health, health)

--- stats(): returns what the client has counted since it was opened, without a request to a server.
-- The table has samples, and all of them as the texts json and prometheus. Each sample has name,
-- type, value and labels.
client.stats = reading(core.client_stats, stats)

--- list_locks(timeout_ms): asks all live clients which locks they hold and wait for, until all have
-- replied or the time is over. Returns a table with answered, silent, truncated, json and entries.
-- Each entry is about one client and one lock.
client.list_locks = reading(core.client_list_locks, listing.of_locks)

--- scan_locks(pattern, most_keys, timeout_ms): searches the keys of the servers for locks, at most
-- most_keys keys of each server. An empty pattern selects locks in Mortise's own format. Any other
-- pattern selects keys of other programs in the syntax of SCAN. Returns a table as list_locks()
-- does. Its entries have source "key".
client.scan_locks = reading(core.client_scan_locks, listing.of_locks)

--- list_history(name, window_ms, timeout_ms): asks all live clients for the latest events of a
-- lock, up to window_ms old. Returns a table with answered, silent, truncated, json and events.
client.list_history = reading(core.client_list_history, listing.of_history)

--- set_credentials(user, password): logs in with another user and password on the live connection.
-- New connections also use them. Both are any bytes, and "" is the server's default user. After
-- every failure the previous credentials stay in force.
client.set_credentials = handle.method(core.client_set_credentials)

-- Makes a method that starts reports on a queue, or ends them without a queue.
local function watching(watch, usual)
  return function(self, on, tag, how)
    local is_done, message, code, details =
      watch(handle.unwrap(self), handle.unwrap(on), tag or 0, how or usual)
    if is_done then return is_done end
    if code == core.INVALID_ARGUMENT then error(message, 2) end
    return nil, message, code, details
  end
end

--- watch_log(queue, tag, level): reports events of this client with this level or a more severe
-- one: LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO. Each record is an event of kind
-- EVENT_LOG with this tag on the queue. Without a queue the reports end.
client.watch_log = watching(core.client_watch_log, core.LOG_LEVEL_INFO)

--- watch_stats(queue, tag, interval_ms): puts an event of kind EVENT_STATS on the queue at this
-- interval. The reader of the event then calls stats(). Without a queue the events end.
client.watch_stats = watching(core.client_watch_stats, 0)

--- watch_locks(queue, tag): reports the begin and the end of each wait and each hold of this client
-- on the queue, as events of the kinds EVENT_WAIT_BEGAN, EVENT_WAIT_FAILED, EVENT_HOLD_BEGAN,
-- EVENT_HOLD_CHANGED and EVENT_HOLD_ENDED. Without a queue the reports end.
client.watch_locks = watching(function(self, on, tag)
  return core.client_watch_locks(self, on, tag)
end)

-- Makes a constructor of the class. `new` receives the client's C object and the other arguments.
local function maker(class, new)
  return function(self, ...)
    local made, message, code, details = new(handle.unwrap(self), ...)
    if made then
      -- Keeps the client from being collected before its handles.
      local object = {handle = made, client = self}
      if class.prepare then class.prepare(object) end
      return setmetatable(object, class)
    end
    if code == core.INVALID_ARGUMENT then error(message, 2) end
    return nil, message, code, details
  end
end

--- mortise.open([url [, options]]): opens a client. Without a URL it uses the environment variable
-- MORTISE_URL. The options are the defaults of the client's locks.
function client.open(url, options)
  local defaults, message, code, details = options_of(options)
  local made
  if not message then made, message, code, details = core.client_new(url, defaults) end
  if made then return setmetatable({handle = made}, client) end
  if code == core.INVALID_ARGUMENT then error(message, 2) end
  return nil, message, code, details
end

local function named(new)
  return function(from, name, options)
    local made, message, code = options_of(options, from)
    if message then return nil, message, code end
    return new(from, name, made)
  end
end

--- lock(name [, options]) and rw(name [, options]): make a new owner. The name is any bytes. The
-- options override those of the client.
client.lock = maker(locks.lock, named(core.lock_new))
client.rw = maker(locks.rw, named(core.rw_new))

--- semaphore(name, capacity [, options]): makes a new owner of permits.
client.semaphore = maker(locks.semaphore, function(from, name, capacity, options)
  local made, message, code = options_of(options, from)
  if message then return nil, message, code end
  return core.semaphore_new(from, name, capacity, made)
end)

--- election(name [, options]): makes a candidate of the election of this name.
client.election = maker(locks.election, named(core.election_new))

--- multi(): makes a set of locks without members.
client.multi = maker(locks.multi, core.multi_new)

--- queue([capacity]): makes a queue of events.
client.queue = maker(queue, core.queue_new)

return client
