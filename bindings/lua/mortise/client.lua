--- A connection to one server, from which locks and queues are made.
local census = require "mortise.census"
local core = require "mortise.core"
local examination = require "mortise.examination"
local handle = require "mortise.handle"
local locks = require "mortise.locks"
local options_of = require "mortise.options"
local queue = require "mortise.queue"
local stats = require "mortise.stats"

local client = handle.class("client", core.client_free)

client.ping = handle.method(core.client_ping)

-- A method that reads what the client is asked for into a table.
local function reading(find, read)
  return function(self, ...)
    local found, message, code, details = find(handle.unwrap(self), ...)
    if found then return read(found) end
    if code == core.INVALID_ARGUMENT then error(message, 2) end
    return nil, message, code, details
  end
end

--- examine(): asks the servers for what matters to locks. A table with worst, json and findings,
-- of which each has name, verdict ("ok", "unknown", "warn" or "bad"), server, value, consequence
-- and mend.
client.examine = reading(core.client_examine, examination)

--- examination(): the same as it was found last, without asking.
client.examination = reading(core.client_examination, examination)

--- stats(): what the client has counted since it was opened, without asking a server. A table with
-- samples, of which each has name, type, value and labels, and all of it as the texts json and
-- prometheus.
client.stats = reading(core.client_stats, stats)

--- census(timeout_ms): asks all clients that live what they hold and wait for, until all have
-- answered or that time is over. A table with answered, silent, truncated, json and entries, of
-- which each is what one client has to do with one lock.
client.census = reading(core.client_census, census)

--- scan(pattern, most_keys, timeout_ms): looks through the keys of the servers for locks, of each
-- server so many at most: for those in Mortise's own format with the pattern "", else for keys of
-- other programs, as SCAN has it. A table as of census(), whose entries have source "key".
client.scan = reading(core.client_scan, census)

--- set_credentials(user, password): says another user, "" for the server's default one, and
-- password on the live connection, and new connections log in with them. Both are any bytes. After
-- every failure those before stay in force.
client.set_credentials = handle.method(core.client_set_credentials)

-- A method that has something told on a queue, or ends that where there is none.
local function watching(watch, usual)
  return function(self, on, tag, how)
    local is_done, message, code, details =
      watch(handle.unwrap(self), handle.unwrap(on), tag or 0, how or usual)
    if is_done then return is_done end
    if code == core.INVALID_ARGUMENT then error(message, 2) end
    return nil, message, code, details
  end
end

--- watch_log(queue, tag, level): from now on what happens to this client, as bad as this level
-- (LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO) or worse, is told on the queue, each as an
-- event of kind EVENT_LOG with this tag. Without a queue nobody is told any more.
client.watch_log = watching(core.client_watch_log, core.LOG_LEVEL_INFO)

--- watch_stats(queue, tag, interval_ms): from now on an event of kind EVENT_STATS comes to the
-- queue every so often, for whoever calls stats() then. Without a queue it ends.
client.watch_stats = watching(core.client_watch_stats, 0)

-- A function that makes an object of the class; `new` is given the client's C object and the rest.
local function maker(class, new)
  return function(self, ...)
    local made, message, code, details = new(handle.unwrap(self), ...)
    if made then
      -- The client stays as long as one of its handles does.
      local object = {handle = made, client = self}
      if class.prepare then class.prepare(object) end
      return setmetatable(object, class)
    end
    if code == core.INVALID_ARGUMENT then error(message, 2) end
    return nil, message, code, details
  end
end

--- mortise.open([url [, options]]): without a URL it is that of the environment variable
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

--- lock(name [, options]) and rw(name [, options]): a new owner; the name is any bytes. Options are
-- laid over those of the client.
client.lock = maker(locks.lock, named(core.lock_new))
client.rw = maker(locks.rw, named(core.rw_new))

--- semaphore(name, permits [, options])
client.semaphore = maker(locks.semaphore, function(from, name, permits, options)
  local made, message, code = options_of(options, from)
  if message then return nil, message, code end
  return core.semaphore_new(from, name, permits, made)
end)

--- multi(): without members so far.
client.multi = maker(locks.multi, core.multi_new)

--- queue([capacity])
client.queue = maker(queue, core.queue_new)

return client
