// Closes a connection's sockets, and a connection that is no longer needed.
#include <utility>

#include "net/threads/futex.hpp"
#include "redis/connection.hpp"

namespace mortise::redis {

// Ends in settle(), immediately when no socket is open.
void connection::end_sockets() noexcept {
  dialer_.cancel();
  endpoint_.cancel();
  if (attempt_.check.service) attempt_.check.service->end();
  loop_.cancel(static_cast<net::timer&>(*this));
  const auto why =
      attempt_.end.ok() ? outcome::of(status::closed, "the client was closed") : attempt_.end;
  commands_.break_off(why);
  if (messages_) messages_->break_off(why);
  settle();
}

bool connection::has_sockets() noexcept {
  return commands_.is_attached() || (messages_ && messages_->is_attached()) ||
         !endpoint_.is_check_over() ||
         (attempt_.check.service && !attempt_.check.service->is_over());
}

void connection::close(time_ns linger_ns) noexcept {
  {
    const std::lock_guard guard(mutex_);
    if (!closing_.is_on) closing_.linger_ns = linger_ns;
    closing_.is_on = true;
  }
  if (closing_.is_done.load(std::memory_order_acquire) == 0) loop_.post(*this);
  while (closing_.is_done.load(std::memory_order_acquire) == 0) {
    net::futex_wait(closing_.is_done, 0, time_never);
  }
}

void connection::begin_close() noexcept {
  if (phase_ == phase::closed || phase_ == phase::lingering) return;
  time_ns linger_ns = 0;
  {
    const std::lock_guard guard(mutex_);
    linger_ns = closing_.linger_ns;
  }
  if (phase_ == phase::up && linger_ns > 0 && commands_.is_busy()) {
    phase_ = phase::lingering;
    loop_.schedule(*this, boot_now() + linger_ns);
    return commands_.finish_sending();
  }
  phase_ = phase::ending;
  attempt_.end = outcome::of(status::closed, "the client was closed");
  end_sockets();
}

void connection::finish_close() noexcept {
  loop_.cancel(static_cast<net::timer&>(*this));
  phase_ = phase::closed;
  const auto why = outcome::of(status::closed, "the client was closed");
  if (std::exchange(up_.was_last, false)) listener_.on_down(why);
  set_problem(why);
  report_open(why);
  take_turn();
  const auto* const sleeper = &closing_.is_done;
  closing_.is_done.store(1, std::memory_order_release);
  // The object may be destroyed now.
  net::futex_wake_all(sleeper);
}

}  // namespace mortise::redis
