--- The kinds of lock. Each object is one owner of one name. A multi owns several names. A method
-- returns its value, or nil, message, code. An error also has {server_text, is_retryable,
-- is_ambiguous}. Times are milliseconds. Without a timeout an acquire waits as long as necessary.
local change = require "mortise.change"
local core = require "mortise.core"
local handle = require "mortise.handle"
local leader_of = require "mortise.leader"
local owner = require "mortise.owner"

local locks = {}

--- Mutex. try() and acquire([timeout_ms]) return a hold. with(fn [, timeout_ms]) runs fn with it.
locks.lock = owner.class(
  "lock", {try = "unlock_hold", acquire = "unlock_hold"}, {with = "acquire"},
  {"is_held", "valid_ms", "deadline_ns", "token", "hold_number", "name"},
  {"unlock", "extend", "progress", "set_value", "cancel", "interrupt", "set_task"})

--- Read-write lock. It has the methods of a mutex for reading and for writing.
locks.rw = owner.class(
  "rw", {
    read_try = "read_unlock_hold", read_acquire = "read_unlock_hold",
    write_try = "write_unlock_hold", write_acquire = "write_unlock_hold",
  },
  {with_read = "read_acquire", with_write = "write_acquire"},
  {"is_reading", "is_writing", "valid_ms", "deadline_ns", "token", "hold_number", "name"},
  {"read_unlock", "write_unlock", "extend", "progress", "set_value", "cancel", "interrupt",
   "set_task"})

-- These return the current hold, which they change.
change.add(locks.rw, "rw", {upgrade = "write_unlock_hold", downgrade = "read_unlock_hold"})

--- Semaphore. try([permits]), acquire([permits [, timeout_ms]]), with(fn [, permits [,
-- timeout_ms]]).
locks.semaphore = owner.class(
  "semaphore", {try = "release_hold", acquire = "release_hold"}, {with = "acquire"},
  {"is_held", "valid_ms", "deadline_ns", "token", "hold_number", "name"},
  {"release", "resize", "extend", "progress", "set_value", "cancel", "interrupt", "set_task"})

--- Candidate of an election. campaign([timeout_ms]) waits until it leads and returns a hold.
-- with(fn [, timeout_ms]) runs fn while it leads.
locks.election = owner.class(
  "election", {campaign = "resign_hold"}, {with = "campaign"},
  {"is_leader", "valid_ms", "deadline_ns", "token", "hold_number", "name"},
  {"resign", "extend", "progress", "set_value", "cancel", "interrupt", "set_task"})

--- leader(): asks the server for the leader. Returns a table with owner, host, pid, label and
-- value, or false if nobody leads.
function locks.election:leader()
  local answer = core.info_new()
  local is_ok, message, code, details = core.election_query(handle.unwrap(self), answer)
  if is_ok then return leader_of(answer) or false end
  if code == core.INVALID_ARGUMENT then error(message, 2) end
  return nil, message, code, details
end

--- observe(queue, tag [, interval_ms]): puts an event of kind EVENT_LEADER or EVENT_NO_LEADER with
-- this tag on the queue, now and after each change. It queries the server at this interval, 1000 by
-- default. The event has the field `leader`. Without a queue the events end.
function locks.election:observe(queue, tag, interval_ms)
  local is_done, message, code, details =
    core.election_observe(handle.unwrap(self), handle.unwrap(queue), tag or 0, interval_ms or 0)
  if is_done then return true end
  if code == core.INVALID_ARGUMENT then error(message, 2) end
  return nil, message, code, details
end

--- All of several locks or none. add_lock(lock), add_reader(rw), add_writer(rw) and
-- add_semaphore(semaphore [, permits]) add members.
locks.multi = owner.class(
  "multi", {try = "unlock_hold", acquire = "unlock_hold"}, {with = "acquire"},
  {"is_held", "valid_ms", "deadline_ns", "hold_number", "member_count"},
  {"unlock", "extend", "progress", "cancel", "interrupt", "set_task"})

for _, name in ipairs {"add_lock", "add_reader", "add_writer", "add_semaphore"} do
  local add = core["multi_" .. name]
  locks.multi[name] = function(self, member, ...)
    local is_added, message, code, details = add(handle.unwrap(self), handle.unwrap(member), ...)
    if is_added then
      -- Keeps the member from being collected, which would free it.
      self.members = self.members or {}
      self.members[#self.members + 1] = member
      return true
    end
    if code == core.INVALID_ARGUMENT then error(message, 2) end
    return nil, message, code, details
  end
end

return locks
