#include "protocol/wire.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "lock/lease.hpp"
#include "protocol/own_name.hpp"
#include "protocol/refusal.hpp"

namespace mortise::protocol {

using lock::answer;
using lock::least_token;
using lock::step;
using lock::step_request;
using lock::step_result;
using lock::token_limit;

namespace {

step_result of(answer what) {
  step_result result;
  result.what = what;
  return result;
}

// A counter that another program has set. A token from 2^53 on would be rounded, so it is no grant
// (hazard 30). The claim releases what the server has granted nevertheless.
step_result without_tokens(std::int64_t last, const key_set& keys) {
  auto result = of(answer::unknown);
  result.details = outcome::of(
      status::refused, "the server has no fencing tokens left: the key ", fence_key, place_of(keys),
      " was raised to ", decimal(last),
      ", beyond 2^53; when no client holds a lock, delete the key and restart the clients");
  return result;
}

// Without contention, no script: the lock and its fencing token are one transaction. A token that
// is drawn later could be above that of a later owner.
int write_transaction(std::string& out, const step_request& request, const key_set& keys) {
  redis::command_writer writer(out);
  writer.command({"MULTI"});
  writer.command({"SET", keys[0], request.token, "NX", "PX", decimal(request.ttl_ms)});
  writer.command({"INCR", keys[1]});
  writer.command({"EXEC"});
  return 4;
}

step_result read_transaction(const redis::value& reply, const key_set& keys) {
  if (reply.type() != redis::kind::array || reply.size() != 2) return unreadable();
  const auto& set = reply.at(0);
  if (set.is_error()) return read_error(set.text());
  if (set.is_null()) {
    auto result = of(answer::not_free);
    result.ttl_ms = -1;  // not reported
    return result;
  }
  if (set.type() != redis::kind::status) return unreadable();
  // The lock is set. A counter of a wrong type or a lost one reads as token 0 or as too small a
  // token. The gate then repeats the request by script, which repairs the counter.
  auto result = of(answer::granted);
  result.last_token = reply.at(1).integer();
  if (result.last_token >= token_limit) return without_tokens(result.last_token, keys);
  result.token_count = 1;
  return result;
}

// The server cannot know whether the exported hold has ended or was adopted.
step_result not_adopted() {
  auto result = of(answer::not_owner);
  result.details = outcome::of(status::not_owner,
                               "the exported hold has ended, or another handle has adopted it");
  return result;
}

step_result read_acquire(const table& protocol, step what, const redis::value& reply,
                         const key_set& keys) {
  if (reply.type() != redis::kind::array || reply.size() != 5) return unreadable();
  const auto& code = reply.at(0);
  const bool is_clear = code.type() == redis::kind::integer && (code.integer() & ~1) == 0;
  if (!is_clear || reply.at(2).integer() < 0) return unreadable();
  step_result result;
  result.server_us = reply.at(2).integer();
  result.ttl_ms = reply.at(3).integer();
  if (code.integer() == 1) {
    result.what = answer::granted;
    result.last_token = reply.at(1).integer();
    if (result.last_token >= token_limit) return without_tokens(result.last_token, keys);
    result.token_count = 1;
    result.others_wait = reply.at(4).integer() == 1;
    return result;
  }
  if (what == step::adopt || what == step::restore) return not_adopted();
  const bool is_queued = protocol.facts.wait == lock::wait_method::queue &&
                         (what == step::acquire || what == step::reacquire);
  result.what = is_queued ? answer::queued : answer::not_free;
  result.last_token = reply.at(1).integer();
  result.place = reply.at(4).integer();
  return result;
}

// No hold is left to the requester, as after a release.
step_result read_restore(const table& protocol, const redis::value& reply, const key_set& keys) {
  auto result = read_acquire(protocol, step::restore, reply, keys);
  if (result.what == answer::granted) result.what = answer::cancelled;
  return result;
}

step_result read_renew(const redis::value& reply, const key_set& keys) {
  if (reply.type() != redis::kind::array || reply.at(0).type() != redis::kind::integer) {
    return unreadable();
  }
  if (reply.size() == 1 && reply.at(0).integer() == 0) return of(answer::not_owner);
  if (reply.size() == 2 && reply.at(0).integer() == 0) {
    const auto state = reply.at(1).integer();
    if (state < 1 || state > 3) return unreadable();
    auto result = of(answer::not_owner);
    result.is_replaced = state % 2 == 1;
    result.is_weaker = state >= 2;
    return result;
  }
  if (reply.size() != 5 || reply.at(0).integer() != 1) return unreadable();
  auto result = of(answer::renewed);
  result.last_token = reply.at(1).integer();
  if (result.last_token >= token_limit) return without_tokens(result.last_token, keys);
  result.server_us = reply.at(2).integer();
  result.others_wait = reply.at(4).integer() == 1;
  return result;
}

// {1, last token} raised, {0, 0} other holders exist, {-1, 0} not the owner. A server of a quorum
// replies as to a request for a vote, unless the requester has none there.
step_result read_raise(const table& protocol, const redis::value& reply, const key_set& keys) {
  const bool is_vote = protocol.rows.raise.proposes;
  if (is_vote && reply.size() != 2) return read_acquire(protocol, step::raise, reply, keys);
  if (reply.type() != redis::kind::array || reply.size() != 2) return unreadable();
  if (reply.at(0).integer() < 0) return of(answer::not_owner);
  if (is_vote) return unreadable();
  if (reply.at(0).integer() == 0) return of(answer::not_free);
  auto result = of(answer::granted);
  result.last_token = reply.at(1).integer();
  result.token_count = 1;
  if (result.last_token >= token_limit) return without_tokens(result.last_token, keys);
  return result.last_token < least_token ? unreadable() : result;
}

step_result read_value(const redis::value& reply) {
  if (reply.type() != redis::kind::integer || (reply.integer() & ~1) != 0) return unreadable();
  return of(reply.integer() == 1 ? answer::value_set : answer::not_owner);
}

step_result read_leave(step what, const redis::value& reply) {
  if (reply.type() != redis::kind::integer) return unreadable();
  switch (reply.integer()) {
    case 0:
      return of(answer::not_owner);
    case 1:
      return of(what == step::cancel ? answer::cancelled : answer::released);
    case 2:
      return of(what == step::cancel ? answer::released : answer::handed_over);
    case 3:
      return what == step::release_alone ? of(answer::others_waiting) : unreadable();
    default:
      return unreadable();
  }
}

}  // namespace

std::string value_key(std::string_view lock_key, std::string_view token) {
  return std::string(lock_key).append(":value:").append(token);
}

const row& row_set::of(lock::step what) const {
  static constexpr std::array by_step = {
      &row_set::try_take,      &row_set::acquire, &row_set::reacquire, &row_set::retake,
      &row_set::adopt,         &row_set::adopt,   &row_set::renew,     &row_set::raise,
      &row_set::release_alone, &row_set::release, &row_set::cancel,    &row_set::set_value};
  static_assert(by_step.size() == lock::step_count);
  return this->*by_step.at(static_cast<std::size_t>(what));
}

void write_arguments(redis::command_writer<std::string>& writer, const row& script,
                     const step_request& request) {
  if (script.arguments > 0) writer.arg(request.token);
  if (script.arguments > 1) writer.arg(request.ttl_ms);
  if (script.arguments > 2 && script.mode.empty()) writer.arg(request.reserve);
  if (script.arguments > 2 && !script.mode.empty()) writer.arg(script.mode);
  if (script.arguments > 3) writer.arg(request.permits);
  if (script.arguments == 5) writer.arg(request.capacity);
  if (script.arguments > 5) writer.arg(request.lifetimes_ms[1]).arg(request.lifetimes_ms[0]);
}

namespace {

void begin_script(redis::command_writer<std::string>& writer, const row& script,
                  const step_request& request, std::size_t arguments) {
  writer.begin(3 + script.keys + arguments);
  if (request.with_text) {
    writer.arg("EVAL").arg(script.code->text);
  } else {
    writer.arg("EVALSHA").arg(script.code->sha1);
  }
  writer.arg(static_cast<std::int64_t>(script.keys));
}

}  // namespace

void write_script(std::string& out, const row& script, const step_request& request,
                  const key_set& keys) {
  redis::command_writer writer(out);
  const bool has_secret = script.queues && !request.secret.empty();
  const bool has_last = script.proposes || has_secret || script.adopts;
  begin_script(writer, script, request, script.arguments + (has_last ? 1U : 0U));
  std::for_each_n(keys.begin(), script.keys, [&](const auto& one) { writer.arg(one); });
  write_arguments(writer, script, request);
  if (script.proposes) writer.arg(request.proposal);
  if (has_secret) writer.arg(request.secret);
  if (script.adopts) writer.arg(request.adopted);
}

namespace {

void write_value(std::string& out, const row& script, const step_request& request,
                 const key_set& keys) {
  redis::command_writer writer(out);
  begin_script(writer, script, request, 3);
  writer.arg(keys.front()).arg(value_key(keys.front(), request.token));
  writer.arg(request.token).arg(request.permits).arg(request.value);
}

}  // namespace

int write_step(std::string& out, const table& protocol, const step_request& request,
               const key_set& keys) {
  if (request.what == step::set_value) {
    write_value(out, protocol.rows.set_value, request, keys);
    return 1;
  }
  if (request.what == step::try_take && protocol.facts.is_plain_string) {
    return write_transaction(out, request, keys);
  }
  write_script(out, protocol.rows.of(request.what), request, keys);
  return 1;
}

bool can_renew_alone(const table& protocol, const step_request& request) noexcept {
  return request.what == step::renew && request.reserve == 0 &&
         protocol.renew_alone.code != nullptr;
}

void write_renewal_alone(std::string& out, const table& protocol, const step_request& request,
                         const key_set& keys) {
  write_script(out, protocol.renew_alone, request, keys);
}

void write_release_of_dead(std::string& out, const table& protocol, const step_request& request,
                           const key_set& keys) {
  step_request release;
  release.token = request.token;
  release.permits = request.permits;
  release.capacity = request.capacity;
  release.lifetimes_ms = request.lifetimes_ms;
  write_script(out, protocol.rows.release, release, keys);
}

void write_loading_for_dead(std::string& out, const table& protocol) {
  redis::command_writer(out).command({"SCRIPT", "LOAD", protocol.rows.release.code->text});
}

bool is_compare_and_delete(const table& protocol, const step_request& request) {
  // A request with the script's text follows one without it, which had failed.
  return request.what == step::release_alone && protocol.facts.is_plain_string &&
         !request.with_text;
}

void write_compare_and_delete(std::string& out, redis::compare_and_delete variant,
                              const step_request& request, const key_set& keys) {
  redis::write_compare_and_delete(out, variant, keys[0], request.token);
}

step_result read_compare_and_delete(const redis::value& reply) {
  if (reply.is_error()) {
    const auto text = reply.text();
    // Not carried out (hazard 28). The connection may lead to a different server, or the rights may
    // have changed.
    for (const auto* word : {"ERR unknown command", "NOPERM", "WRONGTYPE"}) {
      if (text.starts_with(word)) return of(answer::no_script);
    }
    return read_error(text);
  }
  if (reply.type() != redis::kind::integer) return unreadable();
  // A lock with waiters is marked, so it differs from the compared value. So does a lock of
  // another owner, or none (hazard 17).
  if (reply.integer() == 0) return of(answer::others_waiting);
  return reply.integer() == 1 ? of(answer::released) : unreadable();
}

step_result read_step(const table& protocol, step what, const redis::value& reply,
                      const key_set& keys) {
  if (reply.is_error()) {
    auto result = read_error(reply.text());
    // A server that rejects MULTI has executed the commands behind it.
    const bool is_transaction = what == step::try_take && protocol.facts.is_plain_string;
    if (is_transaction && reply.text().starts_with("NOPERM")) result.what = answer::unknown;
    return result;
  }
  switch (what) {
    case step::try_take:
      return protocol.facts.is_plain_string ? read_transaction(reply, keys)
                                            : read_acquire(protocol, what, reply, keys);
    case step::acquire:
    case step::reacquire:
    case step::retake:
    case step::adopt:
      return read_acquire(protocol, what, reply, keys);
    case step::restore:
      return read_restore(protocol, reply, keys);
    case step::renew:
      return read_renew(reply, keys);
    case step::raise:
      return read_raise(protocol, reply, keys);
    case step::release_alone:
    case step::release:
    case step::cancel:
      return read_leave(what, reply);
    case step::set_value:
      return read_value(reply);
  }
  return unreadable();
}

}  // namespace mortise::protocol
