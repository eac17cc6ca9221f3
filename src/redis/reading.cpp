// What is read: the part of pipeline that turns bytes into replies. It runs without the mutex, on
// the one thread that has the lead.
#include <new>

#include "redis/pipeline.hpp"

namespace mortise::redis {

namespace {

// ["message", channel, payload]
bool is_message(const value& item) { return item.size() == 3 && item.at(0).text() == "message"; }

// What SUBSCRIBE and UNSUBSCRIBE are answered with.
bool is_confirmation(const value& item) {
  return item.is_error() || item.at(0).text() == "subscribe" || item.at(0).text() == "unsubscribe";
}

outcome no_memory() noexcept {
  return outcome::of(status::no_memory, "memory ran out for a reply");
}

}  // namespace

// Reads all there is and deals with it. True when there was something.
bool pipeline::read(bool may_nap) noexcept {
  for (bool has_read = false;; has_read = true) {
    try {
      input_.make_room();
    } catch (const std::bad_alloc&) {
      break_off(no_memory());
      return has_read;
    }
    const auto room = input_.room();
    const auto result = may_nap && !has_read ? transport_->receive_or_nap(input_.tail(), room)
                                             : transport_->receive(input_.tail(), room);
    switch (result.state) {
      case net::io_state::done:
        break;
      case net::io_state::want_read:
      case net::io_state::want_write:
        wanted_ = result.state;
        return has_read;
      case net::io_state::closed:
        break_off(outcome::of(status::unreachable, "the server closed the connection"));
        return has_read;
      case net::io_state::failed:
        break_off(outcome::of(status::unreachable,
                              "receiving failed: ", transport_->describe(result.error)));
        return has_read;
    }
    input_.received(result.bytes);
    const time_ns now = boot_now();
    received_ns_.store(now, std::memory_order_relaxed);
    parse(now);
    if (is_violated_ || result.bytes < room) return true;
    // More is waiting. What the replies gave rise to should not wait for all of it.
    lock_type lock(mutex_);
    if (!output_.is_empty()) send_output(lock);
  }
}

void pipeline::parse(time_ns now) noexcept {
  while (!input_.unread().empty() && !is_violated_) {
    const auto result = parser_->parse(input_.unread());
    if (result == parse_result::incomplete) return;
    if (result == parse_result::no_memory) {
      is_violated_ = true;
      return break_off(no_memory());
    }
    if (result == parse_result::violation) {
      is_violated_ = true;
      auto why =
          outcome::of(status::unreachable, "the server broke the protocol (", parser_->problem(),
                      "); is it a Redis or Valkey server that the URL names?");
      why.is_retryable = false;
      return break_off(std::move(why));
    }
    dispatch(parser_->reply(), now);
    input_.consume(parser_->consumed());
  }
}

void pipeline::dispatch(const value& reply, time_ns now) noexcept {
  const bool is_greeted = is_admitted_.load(std::memory_order_relaxed);
  const bool may_be_message = use_ == purpose::messages || reply.type() == kind::push;
  if (may_be_message && is_message(reply)) {
    // Before the greeting is over nobody waits for one.
    if (is_greeted) listener_.on_message(reply.at(1).text(), reply.at(2).text(), now);
    return;
  }
  if (!is_greeted) return listener_.on_greeting_reply(*this, reply);
  // A subscription came or went, or (`messages`) was refused.
  if (may_be_message) return confirm(reply, now);
  if (replies_to_skip_ > 0) {
    --replies_to_skip_;
    return;
  }
  request* const item = oldest_request();
  if (item == nullptr) {
    is_violated_ = true;
    return break_off(
        outcome::of(status::unreachable, "the server sent a reply that nobody had asked for"));
  }
  if (--item->replies_left_ > 0 && !reply.is_error()) return;
  replies_to_skip_ = item->replies_left_;
  reading_list_.pop();
  answered_.fetch_add(1, std::memory_order_relaxed);
  item->on_reply(reply, now);
}

void pipeline::confirm(const value& reply, time_ns now) noexcept {
  request* const item = oldest_request();
  if (item == nullptr || !item->is_subscription || !is_confirmation(reply)) return;
  reading_list_.pop();
  answered_.fetch_add(1, std::memory_order_relaxed);
  item->on_reply(reply, now);
}

request* pipeline::oldest_request() noexcept {
  if (reading_list_.first == nullptr) {
    const lock_type lock(mutex_);
    reading_list_.take_all(submitted_list_);
  }
  return reading_list_.first;
}

}  // namespace mortise::redis
