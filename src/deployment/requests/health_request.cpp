#include "deployment/requests/health_request.hpp"

#include <new>
#include <utility>

namespace mortise::deployment {

outcome health_request::ask(time_ns deadline) {
  caller = &caller_;
  if (auto problem = submit_round(redis::flush::before_await); !problem.ok()) return problem;
  if (server_.commands().await(caller_, deadline)) return result_;
  is_given_up_ = true;
  auto result = outcome::of(status::unknown, "the server did not answer in time");
  result.is_retryable = true;
  return result;
}

outcome health_request::begin(health_request_listener& listener, std::uint64_t session) noexcept
    try {
  listener_ = &listener;
  session_ = session;
  return submit_round(redis::flush::by_io_thread);
} catch (const std::bad_alloc&) {
  return outcome::of(status::no_memory);
}

outcome health_request::submit_round(redis::flush flush) {
  bytes_.clear();
  reply_count = replies_left_ = probe_.write_round(bytes_, boot_now());
  takes_each = true;
  self_ = shared_from_this();
  const auto submitted = server_.commands().submit(*this, bytes_, flush);
  if (submitted == status::ok) return {};
  self_.reset();
  auto problem = server_.last_problem();
  if (!problem.ok()) return problem;
  if (submitted == status::limit) return outcome::of(submitted, "too many requests are open");
  return outcome::of(submitted);
}

void health_request::on_reply(const redis::value& reply, time_ns now) noexcept {
  try {
    // The reply has waited since its receipt.
    if (result_.ok()) probe_.take(reply, now, wall_us_at(now));
  } catch (const std::bad_alloc&) {
    result_ = outcome::of(status::no_memory);
  }
  if (--replies_left_ == 0) next_round();
}

void health_request::next_round() noexcept {
  const auto keep = std::move(self_);
  if (!result_.ok() || probe_.is_over() || is_given_up_) return end(std::move(result_));
  try {
    if (auto problem = submit_round(redis::flush::now); !problem.ok()) end(std::move(problem));
  } catch (const std::bad_alloc&) {
    end(outcome::of(status::no_memory));
  }
}

void health_request::on_broken(bool was_sent) noexcept {
  auto result = outcome::of(was_sent ? status::unknown : status::unreachable,
                            "the connection broke before the answer");
  result.is_retryable = true;
  end(std::move(result));
}

void health_request::end(outcome result) noexcept {
  const auto keep = std::exchange(self_, nullptr);
  result_ = std::move(result);
  if (listener_ != nullptr)
    listener_->on_health(session_, result_, result_.ok() ? &probe_.facts() : nullptr);
  caller_.finish();
}

}  // namespace mortise::deployment
