#include "net/dial/lookup.hpp"

#include <sys/prctl.h>

#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "net/threads/thread.hpp"
#include "net/tls/openssl.hpp"

namespace mortise::net {

namespace {

// Name service modules are foreign code with large frames.
constexpr std::size_t lookup_stack_bytes = 512U << 10U;

outcome no_memory() {
  return outcome::of(status::no_memory, "cannot look up a name: out of memory");
}

}  // namespace

// Shared by the thread and the lookup. The last user frees it.
struct lookup::shared {
  std::shared_ptr<resolver> what;
  time_ns deadline = 0;
  std::mutex mutex;
  lookup* owner = nullptr;  // null once the lookup is destroyed
  resolution found;
};

lookup::lookup(reactor& loop, std::shared_ptr<resolver> what, lookup_listener& listener)
    : loop_(loop), what_(std::move(what)), listener_(listener) {}

lookup::~lookup() {
  if (shared_) {
    const std::lock_guard guard(shared_->mutex);
    shared_->owner = nullptr;
  }
  loop_.cancel(*this);
}

void lookup::start(time_ns deadline) {
  if (what_->is_immediate()) return listener_.on_resolved(what_->resolve(deadline));
  is_pending_ = true;
  if (is_running_) return;
  shared_ = std::make_shared<shared>();
  shared_->what = what_;
  shared_->deadline = deadline;
  shared_->owner = this;
  auto handed_over = std::make_unique<std::shared_ptr<shared>>(shared_);
  const int error = start_detached_thread(lookup_stack_bytes, &lookup::enter, handed_over.get());
  if (error != 0) {
    is_pending_ = false;
    if (!known_.empty()) return listener_.on_resolved({{}, known_});
    return listener_.on_resolved(
        {outcome::of(status::limit, "cannot create a thread for a name lookup: ",
                     std::strerror(error), "; raise the limit (ulimit -u)"),
         {}});
  }
  static_cast<void>(handed_over.release());
  is_running_ = true;
}

void* lookup::enter(void* handed_over) noexcept {
  ::prctl(PR_SET_NAME, "mortise-lookup");
  resolve_in_background(handed_over);
  openssl::end_thread();  // a resolver may ask Sentinels by TLS
  return nullptr;
}

void lookup::resolve_in_background(void* handed_over) noexcept {
  const std::unique_ptr<std::shared_ptr<shared>> keeper(
      static_cast<std::shared_ptr<shared>*>(handed_over));
  auto& state = **keeper;
  resolution found;
  try {
    found = state.what->resolve(state.deadline);
  } catch (...) {
    found = {no_memory(), {}};
  }
  const std::lock_guard guard(state.mutex);
  state.found = std::move(found);
  if (state.owner != nullptr) state.owner->loop_.post(*state.owner);
}

// The addresses only help after a failure, so a lack of memory may drop them.
void lookup::remember(const std::vector<address>& found) noexcept try {
  known_ = found;
} catch (const std::bad_alloc&) {
  known_.clear();
}

void lookup::forget() noexcept {
  abandon();
  known_.clear();
  if (!std::exchange(is_running_, false)) return;
  {
    const std::lock_guard guard(shared_->mutex);
    shared_->owner = nullptr;
  }
  loop_.cancel(*this);
}

void lookup::run() noexcept {
  is_running_ = false;
  resolution found;
  {
    const std::lock_guard guard(shared_->mutex);
    found = std::move(shared_->found);
  }
  if (found.result.ok()) remember(found.addresses);
  if (std::exchange(is_pending_, false)) listener_.on_resolved(std::move(found));
}

}  // namespace mortise::net
