rockspec_format = "3.0"
package = "mortise"
version = "1.0.0-1"
source = {
  url = "git+https://github.com/mortise/mortise.git",
  tag = "v1.0.0",
  dir = "mortise/bindings/lua",
}
description = {
  summary = "Distributed locks on Redis and Valkey",
  detailed = "Mutexes, read-write locks, semaphores and multis with fencing tokens, in order of "
    .. "arrival, blocking or from coroutines. Needs libmortise, the C library.",
  homepage = "https://github.com/mortise/mortise",
  license = "Apache-2.0",
}
dependencies = {"lua >= 5.1, < 5.5"}
external_dependencies = {MORTISE = {header = "mortise/mortise.h", library = "mortise"}}
build = {
  type = "builtin",
  modules = {
    ["mortise"] = "mortise/init.lua",
    ["mortise.change"] = "mortise/change.lua",
    ["mortise.listing"] = "mortise/listing.lua",
    ["mortise.client"] = "mortise/client.lua",
    ["mortise.dispatcher"] = "mortise/dispatcher.lua",
    ["mortise.handle"] = "mortise/handle.lua",
    ["mortise.hold"] = "mortise/hold.lua",
    ["mortise.health"] = "mortise/health.lua",
    ["mortise.info"] = "mortise/info.lua",
    ["mortise.leader"] = "mortise/leader.lua",
    ["mortise.locks"] = "mortise/locks.lua",
    ["mortise.options"] = "mortise/options.lua",
    ["mortise.owner"] = "mortise/owner.lua",
    ["mortise.stats"] = "mortise/stats.lua",
    ["mortise.queue"] = "mortise/queue.lua",
    ["mortise.core"] = {
      sources = {"mortise_core_wrap.c"},
      libraries = {"mortise"},
      incdirs = {"$(MORTISE_INCDIR)"},
      libdirs = {"$(MORTISE_LIBDIR)"},
    },
  },
}
