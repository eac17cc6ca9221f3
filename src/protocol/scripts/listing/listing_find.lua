-- Finds the inboxes of clients that are subscribed at this server, one per client. It reads no
-- keys, only channels, which live clients have.
--
-- ARGV  1 `CHANNELS`, or `SHARDCHANNELS` in a cluster; 2 the limit
-- Reply their channels

local found, is_known = {}, {}
local channels = redis.call('PUBSUB', ARGV[1], 'mortise:inbox:*')
for i = 1, #channels do
  local client = string.match(channels[i], '^mortise:inbox:([^:{]+)')
  if client and not is_known[client] then
    is_known[client] = true
    found[#found + 1] = channels[i]
    if #found == tonumber(ARGV[2]) then break end
  end
end
return found
