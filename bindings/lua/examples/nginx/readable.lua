-- Runs in a thread of nginx's pool: waits until a descriptor can be read.
local ffi = require "ffi"

ffi.cdef [[
struct pollfd {int fd; short events; short revents;};
int poll(struct pollfd *fds, unsigned long count, int timeout_ms);
]]

local POLLIN = 1
local one = ffi.new("struct pollfd[1]")

return {
  wait = function(fd, timeout_ms)
    one[0].fd, one[0].events = fd, POLLIN
    return ffi.C.poll(one, 1, timeout_ms)
  end,
}
