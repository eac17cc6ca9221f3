#include "deployment/step_request.hpp"

#include <new>

#include "protocol/wire.hpp"

namespace mortise::deployment {

status step_request::write(const lock::question& asked, const protocol::table& rules,
                           const protocol::key_set& keys, const known_commands& known) noexcept
    try {
  rules_ = &rules;
  what_ = asked.what;
  bytes_.clear();
  const auto how = known.load(std::memory_order_relaxed);
  is_without_script_ =
      how != redis::compare_and_delete::none && protocol::is_compare_and_delete(rules, asked);
  reply_count = 1;
  if (is_without_script_) {
    protocol::write_compare_and_delete(bytes_, how, asked, keys);
  } else {
    reply_count = protocol::write_step(bytes_, rules, asked, keys);
  }
  return status::ok;
} catch (const std::bad_alloc&) {
  return status::no_memory;
}

status step_request::submit(redis::connection& server, known_commands& known,
                            const lock::operation* by) noexcept {
  server_ = &server;
  known_ = &known;
  caller = by != nullptr ? by->caller : nullptr;
  return server.submit(*this, bytes_, flush_for(by));
}

redis::flush step_request::flush_for(const lock::operation* by) noexcept {
  if (by == nullptr) return redis::flush::by_io_thread;
  if (by->caller != nullptr) {
    return by->caller->is_own() ? redis::flush::before_await : redis::flush::now;
  }
  return by->comes_back ? redis::flush::by_io_thread : redis::flush::unattended;
}

void step_request::on_reply(const redis::value& reply, time_ns now) noexcept {
  if (lock::verdict said; reply.is_error() && is_astray(reply.text(), said)) return tell(said, now);
  if (is_without_script_ && reply.is_error()) {
    // Whatever it is, it is asked again by script.
    known_->store(redis::compare_and_delete::none, std::memory_order_relaxed);
  }
  auto said = is_without_script_ ? protocol::read_compare_and_delete(reply)
                                 : protocol::read_step(*rules_, what_, reply);
  server_->hide_login(said.details);
  tell(said, now);
}

void step_request::on_broken(bool was_sent) noexcept {
  lock::verdict said;
  said.what = was_sent ? lock::answer::broken : lock::answer::unsent;
  tell(said, boot_now());
}

}  // namespace mortise::deployment
