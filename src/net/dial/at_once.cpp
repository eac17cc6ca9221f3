#include "net/dial/at_once.hpp"

#include <pthread.h>

#include "net/threads/thread.hpp"
#include "net/tls/openssl.hpp"

namespace mortise::net {

namespace {

constexpr std::size_t link_stack_bytes = 128U << 10U;

// One call and those before it: a list on the stacks of its threads, which needs no memory.
struct chain {
  const std::function<void(std::size_t)>& work;
  std::size_t count;

  void run() const noexcept {
    chain others{work, count - 1};
    pthread_t thread{};
    const bool has_others = others.count > 0;
    const bool has_thread =
        has_others && start_thread(thread, link_stack_bytes, &chain::enter, &others) == 0;
    work(count - 1);
    if (has_thread) {
      ::pthread_join(thread, nullptr);
    } else if (has_others) {
      others.run();
    }
  }
  static void* enter(void* self) {
    static_cast<const chain*>(self)->run();
    openssl::end_thread();
    return nullptr;
  }
};

}  // namespace

void at_once(std::size_t count, const std::function<void(std::size_t)>& work) noexcept {
  if (count > 0) chain{work, count}.run();
}

}  // namespace mortise::net
