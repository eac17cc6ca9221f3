#include "client/presence/exit_release.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "base/system/fork.hpp"
#include "base/time.hpp"
#include "client/client.hpp"

namespace mortise::client {

namespace {

// Never destroyed, because threads continue to run while a process exits.
struct exit_list {
  const std::uint64_t process = process_mark();
  exit_list* parents = nullptr;
  std::mutex mutex;
  std::vector<std::weak_ptr<client>> clients;
};

std::atomic<exit_list*> newest{nullptr};

bool is_of_this_process(const exit_list* list) noexcept {
  return list != nullptr && list->process == process_mark();
}

// A child does not use its parent's list, because a thread of the parent may hold the mutex.
exit_list& list_of_this_process() {
  auto* known = newest.load();
  while (!is_of_this_process(known)) {
    auto made = std::make_unique<exit_list>();
    made->parents = known;
    if (newest.compare_exchange_strong(known, made.get())) return *made.release();
  }
  return *known;
}

void close_clients() noexcept {
  auto* const list = newest.load();
  if (!is_of_this_process(list)) return;
  int before = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  const time_ns end = boot_now() + client::linger_ns;
  const std::lock_guard guard(list->mutex);
  // All clients send their releases before the first wait.
  for (auto& item : list->clients) {
    const auto client = item.lock();
    if (client && !client->begin_close()) item.reset();
  }
  for (const auto& item : list->clients) {
    const auto client = item.lock();
    if (client) client->end_close(std::max<time_ns>(end - boot_now(), 0));
  }
  list->clients.clear();
}

}  // namespace

outcome close_at_exit(std::weak_ptr<client> client) {
  // Registered with the first such client. Objects created before it still exist when it is closed.
  static const bool is_registered = std::atexit(close_clients) == 0;
  if (!is_registered) return outcome::of(status::no_memory);
  auto& list = list_of_this_process();
  const std::lock_guard guard(list.mutex);
  std::erase_if(list.clients, [](const auto& item) { return item.expired(); });
  list.clients.push_back(std::move(client));
  return {};
}

}  // namespace mortise::client
