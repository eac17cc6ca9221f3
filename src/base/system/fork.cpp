#include "base/system/fork.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "base/random.hpp"
#include "base/system/private_descriptors.hpp"

namespace mortise {

namespace {

using mark = std::atomic<std::uint64_t>;

mark in_data{0};
mark* in_use = &in_data;

// Runs in the child within fork(), where other threads may have been interrupted at any point.
void begin_child() noexcept {
  in_use->store(0);
  close_inherited();
}

// Uses two ways, because neither is enough. The kernel gives an empty page to a child that was made
// without libc (clone). libc detects fork() where an emulator or a sandbox ignores madvise.
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
