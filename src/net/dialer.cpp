#include "net/dialer.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

namespace mortise::net {

dialer::dialer(reactor& loop, std::shared_ptr<resolver> where, transport_factory make_transport,
               dial_listener& listener)
    : loop_(loop),
      where_(where),
      make_transport_(std::move(make_transport)),
      listener_(listener),
      lookup_(loop, std::move(where), *this) {}

dialer::~dialer() { cancel(); }

// Memory that runs out on the way ends the attempt: the next one may find some.
template <class Step>
void dialer::attempt(Step&& step) noexcept try {
  step();
} catch (const std::bad_alloc&) {
  fail(outcome::of(status::no_memory, "memory ran out while connecting"), false);
}

void dialer::start(time_ns deadline) noexcept {
  cancel();
  deadline_ = deadline;
  failures_.clear();
  last_advice_ = {};
  loop_.schedule(*this, deadline);
  attempt([&] { lookup_.start(deadline); });
}

void dialer::cancel() noexcept {
  lookup_.abandon();
  loop_.cancel(static_cast<timer&>(*this));
  drop_transport();
  addresses_.clear();
  next_ = 0;
}

void dialer::drop_transport() noexcept {
  if (!transport_) return;
  if (std::exchange(is_watched_, false)) loop_.remove(transport_->descriptor(), *this);
  transport_.reset();
}

void dialer::fail(const outcome& why, bool is_definite) noexcept {
  cancel();
  listener_.on_dial_failed(why, is_definite);
}

void dialer::on_resolved(resolution found) noexcept {
  if (!found.result.ok()) return fail(found.result, !found.result.is_retryable);
  addresses_ = std::move(found.addresses);
  next_ = 0;
  attempt([&] { try_next(); });
}

void dialer::try_next() {
  drop_transport();
  if (next_ == addresses_.size()) {
    auto why = outcome::of(status::unreachable, "cannot connect to ", failures_, last_advice_.mend);
    why.is_retryable = true;
    return fail(why, last_advice_.is_definite);
  }
  const auto& where = addresses_[next_++];
  // The addresses share the time that is left, so that one that swallows packets leaves some.
  const time_ns now = boot_now();
  const auto shares = static_cast<time_ns>(addresses_.size() - next_ + 1);
  loop_.schedule(*this, now + std::max<time_ns>(deadline_ - now, 0) / shares);
  transport_ = make_transport_();
  judge(transport_->start_connect(where));
}

void dialer::judge(io_result result) {
  if (result.state == io_state::done) {
    if (std::exchange(is_watched_, false)) loop_.remove(transport_->descriptor(), *this);
    auto connected = std::move(transport_);
    cancel();
    return listener_.on_dialed(std::move(connected));
  }
  if (result.state == io_state::want_read || result.state == io_state::want_write) {
    const std::uint32_t events = result.state == io_state::want_read ? EPOLLIN : EPOLLOUT;
    if (is_watched_) return loop_.modify(transport_->descriptor(), events, *this);
    const int error = loop_.add(transport_->descriptor(), events, *this);
    is_watched_ = error == 0;
    if (is_watched_) return;
    result.error = error;
  }
  note_failure(result.error);
  try_next();
}

void dialer::note_failure(int error) {
  if (!failures_.empty()) failures_ += ", ";
  failures_ += addresses_[next_ - 1].text() + ": " + transport_->describe(error);
  last_advice_ = transport_->advise(error);
}

void dialer::on_ready(std::uint32_t) noexcept {
  attempt([&] { judge(transport_->finish_connect()); });
}

void dialer::on_timer(time_ns) noexcept {
  attempt([&] {
    if (!transport_) {
      auto why = outcome::of(status::unreachable, "the address of ", where_->text(),
                             " could not be found in time; check the system's name service");
      why.is_retryable = true;
      return fail(why, false);
    }
    note_failure(ETIMEDOUT);
    try_next();
  });
}

}  // namespace mortise::net
