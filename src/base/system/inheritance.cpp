#include "base/system/inheritance.hpp"

#include <dirent.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

// Weak, so one library runs with every libc.
extern "C" int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t* actions,
                                                        int first) noexcept __attribute__((weak));

namespace mortise {

namespace {

struct folder_end {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

int add_each_that_is_open(int first, posix_spawn_file_actions_t& actions) {
  const std::unique_ptr<DIR, folder_end> open_ones(::opendir("/proc/self/fd"));
  if (open_ones == nullptr) return errno;
  for (;;) {
    errno = 0;  // readdir sets it only on a failure, not at the end
    const dirent* entry = ::readdir(open_ones.get());
    if (entry == nullptr) return errno;
    int descriptor = -1;
    const auto [end, error] =
        std::from_chars(entry->d_name, entry->d_name + std::strlen(entry->d_name), descriptor);
    if (error != std::errc{} || *end != '\0' || descriptor < first) continue;
    // A descriptor that is closed by then is no error.
    if (const int problem = ::posix_spawn_file_actions_addclose(&actions, descriptor)) {
      return problem;
    }
  }
}

}  // namespace

add_closefrom libc_closefrom() noexcept { return &posix_spawn_file_actions_addclosefrom_np; }

int inherit_below(int first, posix_spawn_file_actions_t& actions, add_closefrom closefrom) {
  if (closefrom != nullptr) return closefrom(&actions, first);
  return add_each_that_is_open(first, actions);
}

}  // namespace mortise
