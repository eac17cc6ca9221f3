-- Shared: what to tell of a key that could not be looked at, where that is not for what it holds.

-- The error to end the step with, before it has changed anything, when `found`, the reply to
-- `command`, is one of the server's. nil when it is none, or is about the key's type, which is for
-- the step to judge. Servers before 7.2 say of a script only that its user "can't run this
-- command", later ones that he "has no permissions to run the 'get' command": both name the right
-- here.
local function refusal(found, command)
  local said = type(found) == 'table' and found.err
  if not said or string.find(said, 'WRONGTYPE', 1, true) then return nil end
  if not string.find(said, ' run th', 1, true) then return found end
  return redis.error_reply('NOPERM the user has no permissions to run the \'' .. command ..
    '\' command')
end
