#include "safety/helper_spawn.hpp"

#include <dlfcn.h>
#include <spawn.h>

#include <utility>

namespace mortise::testing {
namespace {

std::function<void()> code_at_start;

}  // namespace

void before_the_helper_starts(std::function<void()> run) { code_at_start = std::move(run); }

}  // namespace mortise::testing

// NOLINTNEXTLINE: the name and the types are the system's.
extern "C" int posix_spawn(pid_t* process, const char* path,
                           const posix_spawn_file_actions_t* actions,
                           const posix_spawnattr_t* attributes, char* const* arguments,
                           char* const* environment) {
  static const auto real =
      reinterpret_cast<decltype(&posix_spawn)>(dlsym(RTLD_NEXT, "posix_spawn"));
  if (const auto run = std::exchange(mortise::testing::code_at_start, nullptr)) run();
  return real(process, path, actions, attributes, arguments, environment);
}
