#include "deployment/sentinel/sentinel.hpp"

#include <mutex>
#include <new>
#include <utility>

namespace mortise::sentinel {

sentinel::sentinel(net::reactor& loop, redis::connection_config config, std::string place,
                   std::string_view master, sentinel_listener& listener)
    : place_(std::move(place)),
      request_count_(report::write_requests(requests_, master)),
      listener_(listener),
      server_(loop, std::move(config), *this) {
  reply_count = static_cast<int>(request_count_);
  takes_each = true;
}

std::uint64_t sentinel::ask() noexcept {
  const std::lock_guard guard(mutex_);
  if (is_asking_) {
    // The reply in flight may be older than this call.
    is_asked_meanwhile_ = true;
    return number_ + 1;
  }
  send();
  return is_asking_ ? number_ : number_ + 1;
}

// Under the mutex.
void sentinel::send() noexcept {
  if (!is_up_ || is_asking_) return;
  is_asked_meanwhile_ = false;
  next_report_ = {};
  replies_left_ = request_count_;
  is_asking_ = server_.commands().submit(*this, requests_, redis::flush::now) == status::ok;
  if (is_asking_) ++number_;
}

sentinel::stage sentinel::stage_of(std::uint64_t number) const noexcept {
  const std::lock_guard guard(mutex_);
  if (is_up_ && answered_ >= number) return stage::answered;
  if (has_failed_) return stage::failed;
  return is_late_ ? stage::late : stage::waiting;
}

void sentinel::give_up(std::uint64_t number) noexcept {
  const std::lock_guard guard(mutex_);
  is_late_ = answered_ < number;
}

sentinel_result sentinel::last_result() const {
  sentinel_result result;
  result.sentinel = place_;
  const std::lock_guard guard(mutex_);
  result.content = report_;
  result.problem = problem_;
  result.is_definite = is_definite_;
  return result;
}

// Sends the request at once, because a resolve() may wait for the reply.
void sentinel::on_up(const redis::session_facts& /*facts*/) noexcept {
  const std::lock_guard guard(mutex_);
  is_up_ = true;
  has_failed_ = false;
  problem_ = {};
  send();
}

void sentinel::on_down(const outcome& why) noexcept { on_failed(why, false); }

void sentinel::on_failed(const outcome& why, bool is_definite) noexcept {
  {
    const std::lock_guard guard(mutex_);
    is_up_ = false;
    has_failed_ = true;
    problem_ = why;
    is_definite_ = is_definite;
    report_ = {};
  }
  listener_.on_result();
}

void sentinel::on_push(std::string_view channel, std::string_view payload,
                       time_ns /*now*/) noexcept {
  if (channel == switch_channel) listener_.on_master_switched(payload);
}

void sentinel::on_reply(const redis::value& reply, time_ns /*now*/) noexcept {
  {
    const std::lock_guard guard(mutex_);
    try {
      next_report_.take(reply);
    } catch (const std::bad_alloc&) {
      // The report then lacks this reply.
    }
    if (--replies_left_ > 0) return;
    is_asking_ = false;
    is_late_ = false;
    answered_ = number_;
    report_ = std::exchange(next_report_, {});
    if (is_asked_meanwhile_) send();
  }
  listener_.on_result();
}

// The next connection sends the request again.
void sentinel::on_broken(bool /*was_sent*/) noexcept {
  const std::lock_guard guard(mutex_);
  is_asking_ = false;
}

}  // namespace mortise::sentinel
