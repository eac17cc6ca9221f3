-- Sends the same message to several inboxes, at one of several servers. Subscriptions at other
-- servers are not reached.
--
-- ARGV  1 `PUBLISH`, or `SPUBLISH` in a cluster; 2 the message; 3… the channels
-- Reply how many clients received it
-- Error the server's first error, if no client received it

local heard, problem = 0, nil
for i = 3, #ARGV do
  local said
  if ARGV[1] == 'SPUBLISH' then
    said = redis.pcall('SPUBLISH', ARGV[i], ARGV[2])
  else
    said = redis.pcall('PUBLISH', ARGV[i], ARGV[2])
  end
  if type(said) == 'number' then
    heard = heard + said
  else
    problem = problem or said
  end
end
return heard == 0 and ARGV[1] == 'PUBLISH' and problem or heard
