-- Shared: the error for a key that cannot be read for other reasons than its type.

-- The error to end the step with, before any change, when `found`, the reply to `command`, is a
-- server error. nil without an error, or for an error about the key's type, which the step handles.
-- Servers before 7.2 report for a script only that its user "can't run this command". Later ones
-- report that he "has no permissions to run the 'get' command". This function names the right in
-- both cases.
local function refusal(found, command)
  local message = type(found) == 'table' and found.err
  if not message or string.find(message, 'WRONGTYPE', 1, true) then return nil end
  if not string.find(message, ' run th', 1, true) then return found end
  return redis.error_reply('NOPERM the user has no permissions to run the \'' .. command ..
    '\' command')
end
