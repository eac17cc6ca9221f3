#include "redis/pipeline.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "base/decimal.hpp"
#include "base/private_descriptors.hpp"

namespace mortise::redis {

namespace {

// What is sent at the latest when its thread does not come back for answers first.
constexpr std::size_t burst_bytes = 32U << 10U;

}  // namespace

pipeline::pipeline(net::reactor& loop, pipeline_listener& listener, purpose use,
                   const pipeline_limits& limits)
    : loop_(loop), listener_(listener), use_(use), limits_(limits), replies_(use, *this) {
  // Nobody but the I/O thread ever reads messages.
  if (use == purpose::commands) {
    kick_fd_ = keep_private(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  }
}

pipeline::~pipeline() {
  loop_.cancel(flush_task_);
  loop_.cancel(teardown_task_);
  loop_.cancel(static_cast<net::timer&>(*this));
  loop_.cancel(rest_timer_);
  close_private(kick_fd_);
}

outcome pipeline::check() const {
  if (use_ == purpose::messages || kick_fd_ >= 0) return {};
  return outcome::of(status::limit,
                     "cannot create an eventfd; raise the limit on open files (ulimit -n)");
}

status pipeline::submit(request& item, std::string_view bytes, flush how) noexcept {
  lock_type lock(mutex_);
  if (!is_admitted_ || is_broken_ || is_finishing_) return status::unreachable;
  const auto open = submitted_ - replies_.answered();
  if (open >= limits_.open_requests) return status::limit;
  if (output_.unsent() + bytes.size() > limits_.output_bytes) return status::limit;
  item.start_ = output_.appended();
  try {
    output_.append(bytes);
  } catch (const std::bad_alloc&) {
    return status::no_memory;
  }
  ++submitted_;
  item.has_caller_ = item.caller != nullptr;
  if (item.has_caller_) net::leadership::note_request(*item.caller, submitted_);
  if (how == flush::by_io_thread && !net::is_coming_back()) lead_.note_left(submitted_);
  submitted_list_.push(item);
  if (!is_watching_) start_watching(tick_period_ns());
  const auto self = ::pthread_self();
  if (how == flush::before_await && lead_.lead_early(*item.caller, situation())) update_interest();
  const bool may_stay = how == flush::by_io_thread && lead_.is_back_soon(self);
  if (may_stay && !is_burst_due()) return status::ok;
  if (!may_stay && lead_.end_rest()) update_interest();
  // What is submitted from a reply leaves when all replies at hand have been read.
  if (lead_.is_reading(self) || is_sending_ || stall_ != stall::none) return status::ok;
  if (how != flush::by_io_thread || may_stay) {
    send_output(lock);
  } else if (!std::exchange(is_flush_posted_, true)) {
    lock.unlock();
    loop_.post(flush_task_);
  }
  return status::ok;
}

// Half of what is usually open is work for the server while this thread prepares the other half.
bool pipeline::is_burst_due() noexcept {
  return ++staying_ * 2 >= lead_.open_at_lead() || output_.unsent() >= burst_bytes;
}

void pipeline::send_output(lock_type& lock) noexcept {
  staying_ = 0;
  if (is_sending_ || stall_ != stall::none) return;
  is_sending_ = true;
  while (transport_ && !is_broken_ && !output_.is_empty()) {
    const auto bytes = output_.front();
    lock.unlock();
    const auto result = transport_->send(bytes);
    lock.lock();
    if (result.state == net::io_state::done) {
      output_.note_sent(result.bytes);
    } else if (result.state == net::io_state::want_write) {
      stall_ = stall::until_writable;
      break;
    } else if (result.state == net::io_state::want_read) {
      stall_ = stall::until_readable;
      break;
    } else {
      break_locked(
          outcome::of(status::unreachable, "sending failed: ", transport_->describe(result.error)));
    }
  }
  is_sending_ = false;
  if (is_finishing_ && transport_ && !is_broken_ && output_.is_empty()) {
    transport_->finish_sending();
  }
  if (is_broken_) return post_teardown_when_free();
  if (stall_ != stall::none) update_interest();
}

void pipeline::run_flush() noexcept {
  lock_type lock(mutex_);
  is_flush_posted_ = false;
  send_output(lock);
}

void pipeline::start_watching(time_ns until_first_look_ns) noexcept {
  is_watching_ = true;
  mark_ = submitted_;
  mark_ns_ = tick_ns_ = boot_now();
  loop_.schedule(*this, mark_ns_ + until_first_look_ns);
}

void pipeline::on_timer(time_ns now) noexcept {
  const time_ns period = tick_period_ns();
  const lock_type lock(mutex_);
  const auto answered = replies_.answered();
  const bool is_idle = !transport_ || is_broken_ || answered == submitted_;
  if (is_idle && give_back_memory()) {
    is_watching_ = false;
    return;
  }
  // When ticks were missed it was this process that did not run: what it did not read meanwhile is
  // no fault of the server's.
  const bool was_away = now - tick_ns_ > 2 * period;
  tick_ns_ = now;
  if (was_away || answered >= mark_) {
    mark_ = submitted_;
    mark_ns_ = now;
  }
  const time_ns quiet_since = std::max(mark_ns_, received_ns_.load(std::memory_order_relaxed));
  if (now - quiet_since >= limits_.silence_ns) {
    is_watching_ = false;
    return break_locked(outcome::of(status::unreachable, "no answer within ",
                                    decimal(limits_.silence_ns / ns_per_ms),
                                    " ms; is the server overloaded, or the network cut?"));
  }
  loop_.schedule(*this, now + period);
}

// An idle connection is to cost next to nothing. False when it is not idle after all.
bool pipeline::give_back_memory() noexcept {
  // With the mutex held and nobody else reading, the buffers are this thread's, the I/O thread's.
  if (lead_.is_caller() || is_sending_ || !output_.is_empty()) return false;
  output_.release();
  replies_.release();
  return true;
}

void pipeline::attach(std::unique_ptr<net::transport> connected) noexcept {
  const lock_type lock(mutex_);
  transport_ = std::move(connected);
  lead_.reset();
  update_interest();
}

void pipeline::greet(std::string bytes) noexcept {
  lock_type lock(mutex_);
  if (!transport_ || is_broken_) return;
  try {
    output_.append(std::move(bytes));
  } catch (const std::bad_alloc&) {
    return break_locked(outcome::of(status::no_memory));
  }
  send_output(lock);
}

bool pipeline::admit() noexcept {
  const lock_type lock(mutex_);
  if (!transport_ || is_broken_) return false;
  output_.release();  // a greeting is long, and it was answered
  is_admitted_ = true;
  replies_.admit();
  if (!is_watching_) start_watching(0);  // the first look gives back what the greeting needed
  return true;
}

void pipeline::finish_sending() noexcept {
  lock_type lock(mutex_);
  is_finishing_ = true;
  if (lead_.end_rest()) update_interest();
  send_output(lock);
}

bool pipeline::is_attached() noexcept {
  const lock_type lock(mutex_);
  return transport_ != nullptr;
}

bool pipeline::is_busy() noexcept {
  const lock_type lock(mutex_);
  return transport_ && !is_broken_ && (submitted_ != replies_.answered() || !output_.is_empty());
}

void pipeline::break_off(outcome why) noexcept {
  const lock_type lock(mutex_);
  break_locked(std::move(why));
}

void pipeline::break_locked(outcome why) noexcept {
  if (!transport_ || is_broken_) return;
  is_broken_ = true;
  why_ = std::move(why);
  if (lead_.is_caller()) {
    const std::uint64_t one = 1;
    while (::write(kick_fd_, &one, sizeof one) < 0 && errno == EINTR) {
    }
  }
  post_teardown_when_free();
}

// Whoever sends or leads comes by here when it stops.
void pipeline::post_teardown_when_free() noexcept {
  if (is_broken_ && !is_sending_ && !lead_.is_caller()) loop_.post(teardown_task_);
}

void pipeline::tear_down() noexcept {
  lock_type lock(mutex_);
  if (!is_broken_ || is_sending_ || lead_.is_caller()) return;
  if (!replies_.is_broken()) {
    // Replies that came before the end count; one may say why there was an end.
    lead_.begin_io_thread(::pthread_self());
    lock.unlock();
    read();
    lock.lock();
  }
  unwatch();
  transport_.reset();
  const auto sent = output_.sent();
  request_list orphans = replies_.end(submitted_);
  orphans.take_all(submitted_list_);
  output_.clear();
  wanted_ = net::io_state::want_read;
  is_broken_ = is_finishing_ = false;
  interest_ = 0;
  stall_ = stall::none;
  is_admitted_ = false;
  lead_.reset();
  const outcome why = std::exchange(why_, {});
  lock.unlock();
  while (request* item = orphans.pop()) item->on_broken(item->start_ < sent);
  listener_.on_torn(*this, why);
}

void pipeline::unwatch() noexcept {
  if (std::exchange(is_watched_, false)) loop_.remove(transport_->descriptor(), *this);
}

void pipeline::update_interest() noexcept {
  if (!transport_ || is_broken_) return;
  std::uint32_t events = 0;
  if (lead_.is_io_thread()) {
    events |= wanted_ == net::io_state::want_write ? EPOLLOUT : EPOLLIN;
  }
  if (stall_ == stall::until_writable) events |= EPOLLOUT;
  if (stall_ == stall::until_readable) events |= EPOLLIN;
  if (is_watched_ && events == interest_) return;
  interest_ = events;
  if (events == 0) {
    // With epoll beside it each wake-up of who reads would cost more. It sees the end itself.
    if (std::exchange(is_watched_, false)) loop_.pause(transport_->descriptor());
    return;
  }
  if (is_watched_) return loop_.modify(transport_->descriptor(), events, *this);
  const int error = loop_.add(transport_->descriptor(), events, *this);
  is_watched_ = error == 0;
  if (error != 0) {
    break_locked(outcome::of(status::limit, "epoll refused the socket: ", std::strerror(error)));
  }
}

}  // namespace mortise::redis
