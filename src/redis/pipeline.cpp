#include "redis/pipeline.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "base/system/private_descriptors.hpp"
#include "base/text/decimal.hpp"

namespace mortise::redis {

pipeline::pipeline(net::reactor& loop, const connection_config& config, pipeline_listener& listener,
                   message_listener* messages, purpose use)
    : loop_(loop),
      listener_(listener),
      use_(use),
      config_(config),
      silence_(config.command_timeout_ms * ns_per_ms),
      replies_(use, *this, messages, config.reply_limits),
      spin_(config.busy_poll_us * ns_per_us) {
  static_cast<void>(prepare());
}

pipeline::~pipeline() {
  loop_.cancel(flush_task_);
  loop_.cancel(teardown_task_);
  loop_.cancel(static_cast<net::timer&>(*this));
  loop_.cancel(rest_timer_);
  close_private(kick_fd_);
}

outcome pipeline::prepare() noexcept {
  // Only the I/O thread reads messages.
  if (use_ == purpose::messages) return {};
  const lock_type lock(mutex_);
  if (kick_fd_ < 0) kick_fd_ = keep_private(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (kick_fd_ >= 0) return {};
  return outcome::of(status::limit,
                     "cannot create an eventfd; raise the limit on open files (ulimit -n)");
}

status pipeline::accept(request& item, std::string_view bytes) noexcept {
  if (!is_admitted_ || is_broken_ || sender_.is_finishing()) return status::unreachable;
  const auto open = submitted_ - replies_.answered();
  if (open >= config_.open_requests_limit) return status::limit;
  if (sender_.unsent() + bytes.size() > config_.output_limit_bytes) return status::limit;
  item.start_ = sender_.appended();
  try {
    sender_.append(bytes);
  } catch (const std::bad_alloc&) {
    return status::no_memory;
  }
  ++submitted_;
  item.is_for_callers_ = item.caller != nullptr;
  if (item.caller != nullptr) net::leader_followers::note_request(*item.caller, submitted_);
  submitted_list_.push(item);
  return status::ok;
}

status pipeline::submit(request& item, std::string_view bytes, flush mode) noexcept {
  lock_type lock(mutex_);
  if (const auto accepted = accept(item, bytes); accepted != status::ok) return accepted;
  if (mode == flush::unattended) lead_.note_left(submitted_);
  if (mode == flush::sent) item.is_for_callers_ = true;
  if (!silence_.is_on()) start_watching(silence_.period_ns());
  const auto self = ::pthread_self();
  if (mode == flush::before_await && lead_.lead_early(*item.caller, situation())) update_interest();
  const bool may_stay = lead_.is_back_soon(self, mode == flush::by_io_thread);
  if (may_stay && !sender_.is_burst_due(lead_.open_at_lead())) return status::ok;
  // The rest ends soon enough for a reply without a waiting thread.
  if (!may_stay && mode != flush::sent && lead_.end_rest()) update_interest();
  // Requests that a reply submits are sent after all received replies were read.
  if (lead_.is_reading(self) || sender_.is_sending() || sender_.is_stalled()) return status::ok;
  if (mode == flush::now || mode == flush::before_await || mode == flush::sent || may_stay) {
    send_output(lock);
  } else if (!std::exchange(is_flush_posted_, true)) {
    lock.unlock();
    loop_.post(flush_task_);
  }
  return status::ok;
}

void pipeline::send_output(lock_type& lock) noexcept {
  if (!sender_.begin()) return;
  while (is_alive() && !sender_.is_empty()) {
    const auto bytes = sender_.next();
    lock.unlock();
    const auto result = transport_->send(bytes);
    lock.lock();
    if (result.state == net::io_state::closed || result.state == net::io_state::failed) {
      break_locked(result.state == net::io_state::closed
                       ? outcome::of(status::unreachable, "the server closed the connection")
                       : outcome::of(status::unreachable,
                                     "sending failed: ", transport_->describe(result.error)));
    } else if (!sender_.note(result)) {
      break;
    }
  }
  sender_.end();
  if (sender_.is_finishing() && is_alive() && sender_.is_empty()) transport_->finish_sending();
  if (is_broken_) return post_teardown_when_free();
  if (sender_.is_stalled()) update_interest();
}

void pipeline::run_flush() noexcept {
  lock_type lock(mutex_);
  is_flush_posted_ = false;
  send_output(lock);
}

void pipeline::start_watching(time_ns until_first_look_ns) noexcept {
  const time_ns now = boot_now();
  silence_.begin(submitted_, now);
  loop_.schedule(*this, now + until_first_look_ns);
}

void pipeline::on_timer(time_ns now) noexcept {
  lock_type lock(mutex_);
  const auto answered = replies_.answered();
  const bool is_idle = !is_alive() || answered == submitted_;
  if (is_idle && give_back_memory()) return silence_.end();
  const auto received = received_ns_.load(std::memory_order_relaxed);
  const auto found = silence_.look(submitted_, answered, received, now);
  if (found == silence_watch::state::silent) {
    silence_.end();
    auto why = outcome::of(status::unreachable, "no answer within ",
                           decimal(silence_.limit_ns() / ns_per_ms),
                           " ms; check the server's load and the network");
    why.cause = "silent";
    return break_locked(std::move(why));
  }
  loop_.schedule(*this, now + silence_.period_ns());
  if (found == silence_watch::state::well || !is_admitted_) return;
  lock.unlock();
  listener_.on_overdue();
}

// An idle connection costs next to nothing. False when it is not idle after all.
bool pipeline::give_back_memory() noexcept {
  // Under the mutex, and without another reader, the buffers belong to this thread, the I/O thread.
  if (lead_.is_caller() || sender_.is_sending() || !sender_.is_empty()) return false;
  sender_.release();
  replies_.release();
  return true;
}

void pipeline::attach(std::unique_ptr<net::transport> connected) noexcept {
  const lock_type lock(mutex_);
  transport_ = std::move(connected);
  lead_.reset();
  update_interest();
}

void pipeline::greet(wiped_bytes bytes) noexcept {
  lock_type lock(mutex_);
  if (!is_alive()) return;
  try {
    sender_.append(std::move(bytes));
  } catch (const std::bad_alloc&) {
    return break_locked(outcome::of(status::no_memory));
  }
  send_output(lock);
}

bool pipeline::admit() noexcept {
  const lock_type lock(mutex_);
  if (!is_alive()) return false;
  sender_.release();  // a handshake is long, and it was answered
  is_admitted_ = true;
  replies_.admit();
  if (!silence_.is_on()) start_watching(0);  // the first look frees the memory of the handshake
  return true;
}

void pipeline::finish_sending() noexcept {
  lock_type lock(mutex_);
  sender_.finish();
  if (lead_.end_rest()) update_interest();
  send_output(lock);
}

bool pipeline::is_attached() noexcept {
  const lock_type lock(mutex_);
  return transport_ != nullptr;
}

bool pipeline::is_busy() noexcept {
  const lock_type lock(mutex_);
  return transport_ && !is_broken_ && (submitted_ != replies_.answered() || !sender_.is_empty());
}

bool pipeline::has_input_since(time_ns when) noexcept {
  const lock_type lock(mutex_);
  if (!is_alive() || received_ns_.load(std::memory_order_relaxed) >= when) return true;
  pollfd input{transport_->descriptor(), POLLIN, 0};
  return ::poll(&input, 1, 0) != 0;
}

void pipeline::break_off(outcome why) noexcept {
  const lock_type lock(mutex_);
  break_locked(std::move(why));
}

void pipeline::break_locked(outcome why) noexcept {
  if (!is_alive()) return;
  is_broken_ = true;
  why_ = std::move(why);
  if (lead_.is_caller()) {
    const std::uint64_t one = 1;
    while (::write(kick_fd_, &one, sizeof one) < 0 && errno == EINTR) {
    }
  }
  post_teardown_when_free();
}

// Senders and leaders call this when they stop.
void pipeline::post_teardown_when_free() noexcept {
  if (is_broken_ && !sender_.is_sending() && !lead_.is_caller()) loop_.post(teardown_task_);
}

void pipeline::tear_down() noexcept {
  lock_type lock(mutex_);
  if (!is_broken_ || sender_.is_sending() || lead_.is_caller()) return;
  if (!replies_.is_broken()) {
    // Replies that came before the end count. One may contain the reason for the end.
    lead_.begin_io_thread(::pthread_self());
    lock.unlock();
    read();
    lock.lock();
  }
  unwatch();
  transport_.reset();
  const auto sent = sender_.sent();
  request_list orphans = replies_.end(submitted_);
  orphans.take_all(submitted_list_);
  sender_.reset();
  read_wait_ = net::io_state::want_read;
  is_broken_ = false;
  interest_ = 0;
  is_admitted_ = false;
  lead_.reset();
  const outcome why = std::exchange(why_, {});
  lock.unlock();
  while (request* item = orphans.pop()) item->on_broken(item->start_ < sent);
  listener_.on_torn(why);
}

void pipeline::unwatch() noexcept {
  if (std::exchange(is_watched_, false)) loop_.remove(transport_->descriptor(), *this);
}

void pipeline::update_interest() noexcept {
  if (!is_alive()) return;
  std::uint32_t events = 0;
  if (lead_.is_io_thread()) {
    events |= read_wait_ == net::io_state::want_write ? EPOLLOUT : EPOLLIN;
  }
  if (sender_.is_stalled_for(net::io_state::want_write)) events |= EPOLLOUT;
  if (sender_.is_stalled_for(net::io_state::want_read)) events |= EPOLLIN;
  if (is_watched_ && events == interest_) return;
  interest_ = events;
  if (events == 0) {
    // An epoll registration makes each wake-up of the leader costlier. The leader notices the end
    // itself.
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
