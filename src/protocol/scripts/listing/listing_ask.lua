-- Sends the same message to several inboxes, at one of several servers. Subscriptions at other
-- servers are not reached.
--
-- ARGV  1 `PUBLISH`, or `SPUBLISH` in a cluster; 2 the message; 3… the channels
-- Reply how many clients received it
-- Error the server's first error, if no client received it

local receivers, problem = 0, nil
for i = 3, #ARGV do
  local reply
  if ARGV[1] == 'SPUBLISH' then
    reply = redis.pcall('SPUBLISH', ARGV[i], ARGV[2])
  else
    reply = redis.pcall('PUBLISH', ARGV[i], ARGV[2])
  end
  if type(reply) == 'number' then
    receivers = receivers + reply
  else
    problem = problem or reply
  end
end
return receivers == 0 and ARGV[1] == 'PUBLISH' and problem or receivers
