// The `queued` protocol as a table: step → command, reply → verdict. Semantics are in src/scripts.
#include <string>

#include "lock/lease.hpp"
#include "lock/protocol.hpp"
#include "lock/refusal.hpp"
#include "redis/command.hpp"
#include "scripts/scripts.hpp"

namespace mortise::lock {

namespace {

constexpr std::string_view fence_key = "mortise:fence";

class queued final : public protocol {
 public:
  // The name is inside the braces together with a prefix: the hash tag can then never be empty, and
  // a lock's key, which ends in a brace, can never be another lock's queue, which does not.
  [[nodiscard]] key_set keys(std::string_view name) const override {
    key_set keys;
    keys.lock.append("{mortise:").append(name).append("}");
    keys.queue = keys.lock + ":q";
    keys.fence = fence_key;
    return keys;
  }

  int write(std::string& out, const question& asked, const key_set& keys) const override {
    switch (asked.what) {
      case step::try_take:
        return write_transaction(out, asked, keys);
      case step::acquire:
        return write_acquire(out, asked, keys, "wait");
      case step::reacquire:
        return write_acquire(out, asked, keys, "again");
      case step::retake:
        return write_acquire(out, asked, keys, "try");
      case step::renew:
        begin(out, scripts::renew, asked, keys, 3)
            .arg(asked.token)
            .arg(asked.ttl_ms)
            .arg(asked.reserve);
        return 1;
      case step::release: {
        auto writer = begin(out, scripts::release, asked, keys, asked.knows_of_waiters ? 2 : 1);
        writer.arg(asked.token);
        if (asked.knows_of_waiters) writer.arg("1");
        return 1;
      }
      case step::cancel:
        begin(out, scripts::cancel, asked, keys, 1).arg(asked.token);
        return 1;
    }
    return 0;
  }

  [[nodiscard]] verdict read(step what, const redis::value& reply) const override {
    if (reply.is_error()) return read_error(reply.text());
    switch (what) {
      case step::try_take:
        return read_transaction(reply);
      case step::acquire:
      case step::reacquire:
      case step::retake:
        return read_acquire(what, reply);
      case step::renew:
        return read_renew(reply);
      case step::release:
        return read_release(reply);
      case step::cancel:
        return read_cancel(reply);
    }
    return unreadable();
  }

 private:
  static verdict of(answer what) {
    verdict result;
    result.what = what;
    return result;
  }

  // A reply of a shape that no step has. It may be anything but a yes (hazard 31).
  static verdict unreadable() {
    auto result = of(answer::unknown);
    result.details = outcome::of(status::unknown, "the server's reply cannot be understood");
    result.details.is_ambiguous = true;
    return result;
  }

  static redis::command_writer begin(std::string& out, const redis::script& script,
                                     const question& asked, const key_set& keys, std::size_t args) {
    redis::command_writer writer(out);
    writer.begin(6 + args);
    if (asked.with_text) {
      writer.arg("EVAL").arg(script.text);
    } else {
      writer.arg("EVALSHA").arg(script.sha1);
    }
    writer.arg("3").arg(keys.lock).arg(keys.queue).arg(keys.fence);
    return writer;
  }

  static int write_acquire(std::string& out, const question& asked, const key_set& keys,
                           std::string_view mode) {
    begin(out, scripts::acquire, asked, keys, 3).arg(asked.token).arg(asked.ttl_ms).arg(mode);
    return 1;
  }

  // Uncontended, no script: the lock and its fencing token in one transaction, because a token
  // drawn later could overtake that of a later owner. The length of the queue tells an owner who
  // slipped in after a lease had ended that its release must look at the queue.
  static int write_transaction(std::string& out, const question& asked, const key_set& keys) {
    redis::command_writer writer(out);
    writer.command({"MULTI"});
    writer.begin(6)
        .arg("SET")
        .arg(keys.lock)
        .arg(asked.token)
        .arg("NX")
        .arg("PX")
        .arg(asked.ttl_ms);
    writer.command({"INCR", keys.fence});
    writer.command({"LLEN", keys.queue});
    writer.command({"EXEC"});
    return 5;
  }

  static verdict read_transaction(const redis::value& reply) {
    if (reply.type() != redis::kind::array || reply.size() != 3) return unreadable();
    const auto& set = reply.at(0);
    if (set.is_error()) return read_error(set.text());
    if (set.is_null()) return of(answer::not_free);
    if (set.type() != redis::kind::status) return unreadable();
    // The lock is set. A counter of a wrong type, or one that was lost, reads as token 0 or as too
    // small a token; the machinery then asks again by script, which repairs it.
    auto result = of(answer::granted);
    result.last_token = reply.at(1).integer();
    if (result.last_token >= token_limit) return unreadable();
    result.token_count = 1;
    result.others_wait = reply.at(2).integer() > 0;
    return result;
  }

  static verdict read_acquire(step what, const redis::value& reply) {
    if (reply.type() != redis::kind::array || reply.size() != 5) return unreadable();
    verdict result;
    result.server_us = reply.at(2).integer();
    result.ttl_ms = reply.at(3).integer();
    if (reply.at(0).integer() == 1) {
      result.what = answer::granted;
      result.last_token = reply.at(1).integer();
      if (result.last_token >= token_limit) return unreadable();
      result.token_count = grant_tokens;
      result.others_wait = reply.at(4).integer() == 1;
    } else {
      result.what = what == step::retake ? answer::not_free : answer::queued;
      result.place = reply.at(4).integer();
    }
    return result;
  }

  static verdict read_renew(const redis::value& reply) {
    if (reply.type() != redis::kind::array || reply.size() == 0) return unreadable();
    if (reply.at(0).integer() == 0) return of(answer::not_owner);
    auto result = of(answer::renewed);
    result.last_token = reply.at(1).integer();
    if (result.last_token >= token_limit) return unreadable();
    result.server_us = reply.at(2).integer();
    result.others_wait = reply.at(4).integer() == 1;
    return result;
  }

  static verdict read_cancel(const redis::value& reply) {
    if (reply.type() != redis::kind::integer) return unreadable();
    switch (reply.integer()) {
      case 0:
        return of(answer::not_owner);
      case 2:
        return of(answer::released);
      default:
        return of(answer::cancelled);
    }
  }

  static verdict read_release(const redis::value& reply) {
    if (reply.type() != redis::kind::integer) return unreadable();
    switch (reply.integer()) {
      case 0:
        return of(answer::not_owner);
      case 2:
        return of(answer::handed_over);
      default:
        return of(answer::released);
    }
  }
};

}  // namespace

const protocol& queued_protocol() {
  static const queued instance;
  return instance;
}

}  // namespace mortise::lock
