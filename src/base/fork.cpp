#include "base/fork.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "base/random.hpp"

namespace mortise {

namespace {

using mark = std::atomic<std::uint64_t>;

mark* find_page() noexcept {
  static mark fallback{0};
  const auto page_size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const page =
      mmap(nullptr, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED) {
    // The kernel hands a child this page empty, also when it was forked behind libc's back.
    if (madvise(page, page_size, MADV_WIPEONFORK) == 0) return static_cast<mark*>(page);
    munmap(page, page_size);
  }
  pthread_atfork(nullptr, nullptr, [] { fallback.store(0); });
  return &fallback;
}

}  // namespace

std::uint64_t process_mark() noexcept {
  static mark* const page = find_page();
  auto current = page->load(std::memory_order_relaxed);
  if (current != 0) return current;
  const auto fresh = random_number() | 1U;
  return page->compare_exchange_strong(current, fresh) ? fresh : current;
}

}  // namespace mortise
