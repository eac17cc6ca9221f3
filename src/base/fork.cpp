#include "base/fork.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "base/private_descriptors.hpp"
#include "base/random.hpp"

namespace mortise {

namespace {

using mark = std::atomic<std::uint64_t>;

mark in_data{0};
mark* in_use = &in_data;

// fork() calls it in the child, where other threads may have been in the middle of anything.
void begin_child() noexcept {
  in_use->store(0);
  close_inherited();
}

// Both ways, because neither is enough: a child that was made behind libc's back (clone) is told by
// the kernel, which hands it this page empty; and where an emulator or a sandbox takes madvise for
// mere advice, libc tells it.
mark* prepare() noexcept {
  const auto page_size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const page =
      mmap(nullptr, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED) {
    if (madvise(page, page_size, MADV_WIPEONFORK) == 0) {
      in_use = static_cast<mark*>(page);
    } else {
      munmap(page, page_size);
    }
  }
  pthread_atfork(nullptr, nullptr, begin_child);
  return in_use;
}

}  // namespace

std::uint64_t process_mark() noexcept {
  static mark* const page = prepare();
  auto current = page->load(std::memory_order_relaxed);
  if (current != 0) return current;
  const auto fresh = random_number() | 1U;
  return page->compare_exchange_strong(current, fresh) ? fresh : current;
}

}  // namespace mortise
