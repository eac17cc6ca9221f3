#include "net/threads/wake_scope.hpp"

#include "net/threads/caller.hpp"
#include "net/threads/futex.hpp"

namespace mortise::net {

namespace {

struct pending_wakes {
  int depth = 0;
  caller* first = nullptr;
  caller* last = nullptr;
};

constinit thread_local pending_wakes pending;

}  // namespace

wake_scope::wake_scope() noexcept { ++pending.depth; }

wake_scope::~wake_scope() {
  if (--pending.depth == 0) flush();
}

bool wake_scope::is_open() noexcept { return pending.depth > 0; }

void wake_scope::add(caller& finished) noexcept {
  finished.next_to_wake_ = nullptr;
  (pending.first == nullptr ? pending.first : pending.last->next_to_wake_) = &finished;
  pending.last = &finished;
}

void wake_scope::flush() noexcept {
  while (caller* const item = pending.first) {
    pending.first = item->next_to_wake_;
    const std::atomic<std::uint32_t>* const address = &item->state_;
    item->state_.store(caller::state_done, std::memory_order_release);
    net::futex_wake_one(address);  // the caller may be destroyed
  }
}

}  // namespace mortise::net
