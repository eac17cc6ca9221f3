#include "redis/resp/reply_reader.hpp"

#include <utility>

namespace mortise::redis {

namespace {

// ["message", channel, payload], and the same for a channel of a cluster's slot.
bool is_message(const value& item) {
  const auto kind = item.at(0).text();
  return item.size() == 3 && (kind == "message" || kind == "smessage");
}

// The replies to SUBSCRIBE, UNSUBSCRIBE and SSUBSCRIBE.
bool is_confirmation(const value& item) {
  const auto kind = item.at(0).text();
  return item.is_error() || kind == "subscribe" || kind == "unsubscribe" || kind == "ssubscribe";
}

// ["sunsubscribe", channel, count]: the slot moved to another server. No request sends
// SUNSUBSCRIBE, so this is never a reply.
bool is_farewell(const value& item) { return item.at(0).text() == "sunsubscribe"; }

// Whether an error can only be the reply to AUTH, not to the HELLO behind it.
bool is_of_auth(std::string_view error) {
  return error.starts_with("WRONGPASS") || error.starts_with("ERR invalid password") ||
         error.starts_with("ERR AUTH ") || error.starts_with("ERR Client sent AUTH");
}

}  // namespace

bool reply_reader::take(std::size_t count, time_ns now) noexcept {
  input_.received(count);
  while (!input_.unread().empty() && !is_broken_) {
    switch (parser_->parse(input_.unread())) {
      case parse_result::complete:
        dispatch(parser_->reply(), now);
        input_.consume(parser_->consumed());
        break;
      case parse_result::incomplete:
        return true;
      case parse_result::no_memory:
        break_off(outcome::of(status::no_memory, "cannot read a reply: out of memory"));
        break;
      case parse_result::violation:
        break_off(violation());
        break;
    }
  }
  return !is_broken_;
}

void reply_reader::dispatch(const value& reply, time_ns now) noexcept {
  const bool may_be_message = use_ == purpose::messages || reply.type() == kind::push;
  if (may_be_message && is_message(reply)) {
    // During the handshake there is no waiter for a message.
    if (is_admitted_) messages_->on_push(reply.at(1).text(), reply.at(2).text(), now);
    return;
  }
  if (!is_admitted_) return listener_.on_handshake_reply(reply);
  if (may_be_message && is_farewell(reply)) return messages_->on_channel_moved(reply.at(1).text());
  // A subscription began or ended, or (`messages`) was refused.
  if (may_be_message) return confirm(reply, now);
  answer(reply, now);
}

void reply_reader::answer(const value& reply, time_ns now) noexcept {
  if (replies_to_skip_ > 0) {
    --replies_to_skip_;
    return;
  }
  request* const item = find_oldest();
  if (item == nullptr) {
    return break_off(outcome::of(status::unreachable, "the server sent an unexpected reply"));
  }
  --item->replies_left_;
  // The server may have dropped the error of AUTH and refused HELLO. Then no second reply follows.
  const bool is_ambiguous = item->says != nullptr && reply.is_error() && !is_of_auth(reply.text());
  if (item->says != nullptr) {
    // Redis 7.2 to 8 drop the error of AUTH while other replies are pending. All later replies
    // would then belong to wrong requests (hazard 31).
    const bool is_of_hello = !reply.is_error() && reply.type() != kind::status;
    if (is_of_hello) item->replies_left_ = 0;
  } else if (item->replies_left_ > 0) {
    if (item->takes_each) return item->on_reply(reply, now);
    if (!reply.is_error()) return;
  }
  replies_to_skip_ = item->replies_left_;
  open_.pop();
  answered_.fetch_add(1, std::memory_order_relaxed);
  if (reply.is_error()) listener_.on_error(*item, reply.text());
  item->on_reply(reply, now);
  if (!is_ambiguous) return;
  break_off(outcome::of(status::unreachable, "the reply to new credentials is ambiguous"));
}

void reply_reader::confirm(const value& reply, time_ns now) noexcept {
  request* const item = find_oldest();
  if (item == nullptr || !item->is_subscription || !is_confirmation(reply)) return;
  open_.pop();
  answered_.fetch_add(1, std::memory_order_relaxed);
  item->on_reply(reply, now);
}

outcome reply_reader::violation() const noexcept {
  // A TLS alert: the server's answer to a client without TLS.
  auto why =
      !is_admitted_ && input_.unread().starts_with("\x15\x03")
          ? outcome::of(status::unreachable, "the port speaks TLS; give rediss://")
          : outcome::of(status::unreachable, "the server broke the protocol (", parser_->problem(),
                        "); check that the URL names a Redis or Valkey server");
  why.is_retryable = false;
  return why;
}

void reply_reader::break_off(outcome why) noexcept {
  is_broken_ = true;
  problem_ = std::move(why);
}

request* reply_reader::find_oldest() noexcept {
  if (open_.first() == nullptr) {
    auto submitted = listener_.take_submitted();
    open_.take_all(submitted);
  }
  return open_.first();
}

request_list reply_reader::end(std::uint64_t submitted) noexcept {
  answered_.store(submitted, std::memory_order_relaxed);
  input_.clear();
  parser_->reset();
  replies_to_skip_ = 0;
  is_admitted_ = is_broken_ = false;
  problem_ = {};
  return std::exchange(open_, {});
}

void reply_reader::release() noexcept {
  if (!input_.unread().empty()) return;
  input_.release();
  parser_.emplace(limits_);
}

}  // namespace mortise::redis
