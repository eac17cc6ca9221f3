--- The result of an acquire: the right to one lock until it is unlocked or lost. On Lua 5.4
-- `local hold <close> = assert(lock:acquire())` always unlocks at the end of the block.
local core = require "mortise.core"

local hold = {}
hold.__index = hold
hold.__name = "mortise.hold"

function hold.__tostring(self)
  return ("mortise.hold (%s)"):format(self.token and ("token %.0f"):format(self.token) or "multi")
end

-- Makes a hold. `ending` is the name of the C layer's function that ends this hold. `event` is the
-- event of its grant. Without an event the hold is the owner's current one.
function hold.new(owner, ending, event)
  local calls, c_owner = owner.calls, owner.handle
  local new = setmetatable({
    owner = owner, ending = ending,
    number = event and event.hold_number or calls.hold_number(c_owner),
    token = calls.token and (event and event.token or calls.token(c_owner)),
  }, hold)
  if owner.holds then owner.holds[new] = true end
  return new
end

-- The beginning of a message: the lock's name, as the C library prints it.
local function title(owner)
  local name = owner.calls.name and owner.calls.name(owner.handle)
  if not name then return "" end
  local shown = name:sub(1, 64):gsub("[^ -~]", "?")
  return ('"%s%s": '):format(shown, #name > 64 and "…" or "")
end

-- Returns the owner of a hold that was not ended with this object, or nil, message, code.
local function owner_of(self)
  if getmetatable(self) ~= hold then
    return nil, "hold has to be of type hold, not " .. type(self), core.INVALID_ARGUMENT
  end
  if not self.is_over then return self.owner end
  return nil, title(self.owner) .. "this hold has ended already", core.NOT_OWNER
end

-- Returns whether the owner's latest hold is this one, or nil, message, code. Tokens cannot be
-- compared: consecutive holds of a reader may have the same token.
local function is_latest(self)
  local number, message, code = self.owner.calls.hold_number(self.owner.handle)
  if not number then return nil, message, code end
  return number == self.number
end

local function details_of_loss(owner)
  return {
    reason = core.REASON_NONE, lock_name = owner.calls.name and owner.calls.name(owner.handle),
    server_text = "", is_retryable = false, is_ambiguous = false,
  }
end

-- Returns true if it is the latest, or nil, message, code, details.
local function check_latest(self)
  local owner = self.owner
  local is_mine, message, code = is_latest(self)
  if is_mine then return true end
  if is_mine == nil then return nil, message, code end
  return nil, title(owner) .. "this hold has ended; its handle was acquired again", core.LOST,
         details_of_loss(owner)
end

-- Calls the C layer's function for a method of the owner if the owner's latest hold is this one.
local function call(self, method, ...)
  local owner, message, code = owner_of(self)
  if not owner then return nil, message, code end
  local is_mine, details
  is_mine, message, code, details = check_latest(self)
  if not is_mine then return nil, message, code, details end
  return owner.calls[method](owner.handle, ...)
end

-- Returns a value of the owner if the owner's latest hold is this one, otherwise nil.
local function look(self, method)
  local owner, message, code = owner_of(self)
  if owner then
    local seen
    seen, message, code = owner.calls[method](owner.handle)
    -- In this order: what is held after the number was read may be another hold already.
    if seen ~= nil and is_latest(self) then return seen end
  end
  if code == core.INVALID_ARGUMENT then error(message, 3) end
end

-- After these codes the unlock did not begin, and the hold is unchanged.
local NOT_BEGUN = {[core.BUSY] = true, [core.LIMIT] = true, [core.SHUT_DOWN] = true,
                   [core.NO_MEMORY] = true}

local READ, WRITE = "read_unlock_hold", "write_unlock_hold"
local OTHER = {[READ] = WRITE, [WRITE] = READ}

-- Whether the owner holds anything, by the local clock.
local function holds_nothing(owner)
  return owner.calls.deadline_ns(owner.handle) == 0
end

-- Updates a hold after an upgrade, which changes the token but not the number. Returns whether the
-- hold was upgraded.
function hold.follow_upgrade(self)
  if self.ending ~= READ then return false end
  local owner = self.owner
  local token = owner.calls.token(owner.handle)
  -- In this order: the token that was read is that of the number.
  if token == self.token or not is_latest(self) then return false end
  self.token, self.ending = token, WRITE
  return true
end

-- Returns whether the ending of this hold has changed, and updates it.
local function has_changed(self)
  if hold.follow_upgrade(self) then return true end
  if not OTHER[self.ending] or not holds_nothing(self.owner) then return false end
  -- It may have been lost during the change. Its ending is then that of the intended mode.
  self.ending = OTHER[self.ending]
  return true
end

local function end_here(self, queue, tag)
  local calls, c_owner = self.owner.calls, self.owner.handle
  if not queue then return calls[self.ending](c_owner, self.number) end
  return calls[self.ending .. "_async"](c_owner, queue.handle, tag, self.number)
end

-- Ends this hold. With a queue it only begins to end it.
local function finish(self, queue, tag)
  local owner, message, code = owner_of(self)
  if not owner then return nil, message, code end
  local is_ok, details
  is_ok, message, code, details = end_here(self, queue, tag)
  if code == core.NOT_OWNER and has_changed(self) then
    is_ok, message, code, details = end_here(self, queue, tag)
  end
  if code == core.INVALID_ARGUMENT then return nil, message, code end
  self.is_over = is_ok or not NOT_BEGUN[code]
  return is_ok, message, code, details
end

-- The method that reports whether there is a hold, by the ending.
local IS_HELD = {unlock_hold = "is_held", release_hold = "is_held", resign_hold = "is_leader",
                 [READ] = "is_reading", [WRITE] = "is_writing"}

--- Unlocks. Returns true, or nil, message, code. The code is LOST if the hold was lost before, or
-- if it had ended and its handle was acquired again.
function hold:unlock()
  local is_ok, message, code, details = finish(self)
  if code == core.INVALID_ARGUMENT then error(message, 2) end
  if is_ok then return true end
  return nil, message, code, details
end

--- Returns whether this hold is still valid by the local clock. Sends no request.
function hold:is_held()
  local is_held = look(self, type(self) == "table" and IS_HELD[self.ending])
  if is_held == false and hold.follow_upgrade(self) then
    is_held = look(self, IS_HELD[self.ending])
  end
  return is_held or false
end

--- Returns how long the hold is still valid by the local clock, in milliseconds.
function hold:valid_ms()
  local left_ms = look(self, "valid_ms")
  return left_ms or 0
end

--- Makes the hold last at least `lease_ms` from now. The default is the lock's lease.
function hold:extend(lease_ms)
  local is_ok, message, code, details = call(self, "extend", lease_ms)
  -- An acquire in the background may have replaced the hold, and the call has extended its hold.
  if is_ok then is_ok, message, code, details = check_latest(self) end
  if is_ok then return true end
  if code == core.INVALID_ARGUMENT then error(message, 2) end
  return nil, message, code, details
end

-- Returns the text of an id of the C layer, and frees it. An error stays as it is.
function hold.id_of(id, message, code, details)
  if not id then return nil, message, code, details end
  local text = core.hold_id_text(id)
  core.hold_id_free(id)
  return text
end

--- Ends the hold here without a release. It lasts for `lease_ms` at the server, and no client
-- renews it. Returns its id, by which another handle, process or host continues it:
-- `lock:adopt(id)`. A multi and a leadership have no id.
function hold:export(lease_ms)
  if type(self) == "table" and self.owner and not self.owner.calls.export then
    return nil, "a multi and a leadership have no id; export a single lock", core.UNSUPPORTED
  end
  local id, message, code, details = hold.id_of(call(self, "export", lease_ms or 0))
  if id then
    self.is_over = true
    return id
  end
  if code == core.INVALID_ARGUMENT then error(message, 2) end
  return nil, message, code, details
end

--- Reports that the work under the hold goes on (option `progress`). Waits for no server.
function hold:progress()
  local is_ok, message, code, details = call(self, "progress")
  if is_ok then is_ok, message, code, details = check_latest(self) end
  if is_ok then return true end
  if code == core.INVALID_ARGUMENT then error(message, 2) end
  return nil, message, code, details
end

--- Sets the value of this hold, which queries and listings show: UTF-8, at most 1024 bytes. ""
-- removes it. It ends with the hold.
function hold:set_value(value)
  local owner = type(self) == "table" and self.owner
  if owner and not owner.calls.set_value then
    return nil, "a multi has no value; set those of its members", core.UNSUPPORTED
  end
  local is_ok, message, code, details = call(self, "set_value", value)
  if is_ok then is_ok, message, code, details = check_latest(self) end
  if is_ok then return true end
  if code == core.INVALID_ARGUMENT then error(message, 2) end
  return nil, message, code, details
end

-- The methods that a dispatcher can await. None of them returns a hold.
hold.calls = {unlock_async = true, extend_async = true, set_value_async = true}

function hold.hold_of() end

-- For the dispatcher: returns the owner of a hold that was not ended with this object, or nil,
-- message, code.
hold.owner_of = owner_of

-- For the dispatcher: returns nil while the hold lasts, otherwise an event of its loss. With the
-- option `acks`, a hold that awaits replicas lasts, although it is not held.
function hold.loss_of(self, tag)
  local owner = self.owner
  local deadline_ns = owner.calls.deadline_ns(owner.handle)
  -- In this order: what lasts after the number was read may be another hold already.
  local is_mine = is_latest(self)
  if is_mine == nil or is_mine and deadline_ns ~= 0 then return end
  local details = details_of_loss(owner)
  return {
    kind = core.EVENT_LOST, tag = tag, status = core.LOST, token = self.token or 0,
    hold_number = self.number, message = title(owner) .. "the hold was lost before the watch",
    lock_name = details.lock_name, details = details,
  }
end

-- For the dispatcher: begins `unlock` or `extend`, which ends on a queue. Misuse is also returned.
function hold:begin(method, queue, tag, ...)
  if method ~= "unlock" then return call(self, method .. "_async", queue.handle, tag, ...) end
  return finish(self, queue, tag)
end

-- After these codes the client holds nothing, and the lease ends what the server may still have.
local IS_LEFT_TO_LEASE = {[core.UNKNOWN] = true, [core.UNREACHABLE] = true}

-- Unlocks at the end of a block, unless the block has unlocked. Returns true, or nil, message, code
-- if the block may not have been protected or the lock is still held.
local function leave(self, unlock, has_failed)
  local owner = self.owner
  if self.is_over or owner.is_closed then return true end
  local is_ok, message, code = unlock(self)
  -- The caller gets the error of the block, and would not unlock again. So this waits for the other
  -- call, such as an upgrade, which has a time limit.
  while has_failed and code == core.BUSY do
    core.pause()
    is_ok, message, code = hold.unlock(self)
  end
  if is_ok or IS_LEFT_TO_LEASE[code] then return true end
  if code == core.NOT_OWNER and holds_nothing(owner) then return true end
  return nil, message, code
end

--- Unlocks at the end of a block. Raises an error if the unlock is refused, unless another error
-- ended the block.
function hold:__close(problem)
  local is_left, message = leave(self, hold.unlock, problem ~= nil)
  if not is_left and problem == nil then error(message, 2) end
end

-- Closes a value when the coroutine that runs `call` is closed. Nil before Lua 5.4, which cannot
-- close coroutines.
local load_text = loadstring or load -- luacheck: ignore 113
local with_guard = load_text [[local guard <close>, call = ... return call()]]

local guard = {__close = function(self)
  if self.hold then leave(self.hold, hold.unlock, true) end
end}

-- The results of `run`, after fn has returned.
local function come_back(self, unlock, is_fine, ...)
  local is_left, message, code = leave(self, unlock, not is_fine)
  if not is_fine then error((...), 0) end
  if not is_left then return nil, message, code, ... end
  return true, ...
end

--- Calls fn with the hold, then unlocks, even if fn raises an error, or its coroutine is closed on
-- Lua 5.4. Returns true and fn's results. If the hold was lost during fn or the unlock is refused,
-- returns nil, message, code and fn's results. On Lua 5.1 fn cannot yield.
function hold.run(self, fn, unlock)
  if not with_guard then return come_back(self, unlock or hold.unlock, pcall(fn, self)) end
  local guarded = setmetatable({hold = self}, guard)
  local function ended(...)
    guarded.hold = nil
    return come_back(self, unlock or hold.unlock, ...)
  end
  return with_guard(guarded, function() return ended(pcall(fn, self)) end)
end

return hold
