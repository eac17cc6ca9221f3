-- Finds the inboxes of clients that are subscribed at this server, one per client. It reads no
-- keys, only channels, which live clients have.
--
-- ARGV  1 `CHANNELS`, or `SHARDCHANNELS` in a cluster; 2 the limit; 3 the name of an inbox, without
--       the client's ID
-- Reply their channels

local found, is_known = {}, {}
local channels = redis.call('PUBSUB', ARGV[1], ARGV[3] .. '*')
for i = 1, #channels do
  local client = string.match(channels[i], '^([^:{]+)', #ARGV[3] + 1)
  if client and not is_known[client] then
    is_known[client] = true
    found[#found + 1] = channels[i]
    if #found == tonumber(ARGV[2]) then break end
  end
end
return found
