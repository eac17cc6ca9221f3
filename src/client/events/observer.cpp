#include "client/events/observer.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

#include "net/threads/thread.hpp"
#include "net/tls/openssl.hpp"

namespace mortise::client {

namespace {

// A query of a quorum starts further threads, and keeps its replies in containers.
constexpr std::size_t stack_bytes = 256U << 10U;

}  // namespace

outcome observer::start_locked() {
  if (is_ended_) return client_freed();
  if (is_started_) return {};
  const int error = net::start_thread(thread_, stack_bytes, &observer::enter, this);
  if (error != 0) {
    return outcome::of(status::limit, "cannot start the thread that asks the server at intervals: ",
                       std::strerror(error), "; raise the limit of threads");
  }
  is_started_ = true;
  return {};
}

outcome observer::add(const std::shared_ptr<observed>& item, const std::string& key,
                      time_ns interval_ns) {
  const std::lock_guard guard(mutex_);
  if (auto started = start_locked(); !started.ok()) return started;
  observations_[item.get()] = {item, &key, interval_ns, boot_now()};
  changed_.notify_all();
  return {};
}

void observer::remove(const observed& item) noexcept {
  const std::lock_guard guard(mutex_);
  observations_.erase(&item);
}

void observer::hasten(const std::string& key) noexcept {
  const std::lock_guard guard(mutex_);
  bool is_observed = false;
  for (auto& one : observations_) {
    if (*one.second.key != key) continue;
    one.second.due = boot_now();
    is_observed = true;
  }
  if (is_observed) changed_.notify_all();
}

void observer::end() noexcept {
  {
    const std::lock_guard guard(mutex_);
    is_ended_ = true;
    observations_.clear();
    changed_.notify_all();
    if (!std::exchange(is_started_, false)) return;
  }
  ::pthread_join(thread_, nullptr);
}

void* observer::enter(void* self) noexcept {
  ::prctl(PR_SET_NAME, "mortise-observe");
  static_cast<observer*>(self)->run();
  net::openssl::end_thread();
  return nullptr;
}

// The next observation that is due, or nullptr at the end.
std::shared_ptr<observed> observer::next_due_locked(std::unique_lock<std::mutex>& guard) {
  while (!is_ended_) {
    const auto first =
        std::min_element(observations_.begin(), observations_.end(),
                         [](const auto& a, const auto& b) { return a.second.due < b.second.due; });
    if (first == observations_.end()) {
      changed_.wait(guard);
      continue;
    }
    const auto now = boot_now();
    if (first->second.due > now) {
      changed_.wait_for(guard, std::chrono::nanoseconds(first->second.due - now));
      continue;
    }
    first->second.due = now + first->second.interval_ns;
    if (auto item = first->second.item.lock()) return item;
    observations_.erase(first);
  }
  return nullptr;
}

void observer::run() noexcept {
  for (;;) {
    // Freed without the mutex: this may be the last reference to a handle that was freed meanwhile.
    std::shared_ptr<observed> item;
    {
      std::unique_lock guard(mutex_);
      item = next_due_locked(guard);
    }
    if (!item) return;
    item->look();
  }
}

}  // namespace mortise::client
