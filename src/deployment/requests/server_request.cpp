#include "deployment/requests/server_request.hpp"

#include <new>

#include "protocol/wire.hpp"
#include "redis/resp/command.hpp"

namespace mortise::deployment {

namespace {

// Enough for a request without the text of a script, unless the lock's name is long.
constexpr std::size_t longest_kept = 1024;

// Whether the requester relies on the result for the length of a lease.
bool is_relied_on(const lock::step_result& result) noexcept {
  return result.what == lock::answer::granted || result.what == lock::answer::renewed;
}

}  // namespace

class server_request::acknowledgement final : public unacknowledged {
 public:
  explicit acknowledgement(server_request& owner) : owner_(owner) {}
  void await(lock::step_result result, time_ns now, std::int64_t lease_ms) noexcept {
    result_ = std::move(result);
    source.replicas->await(*this, source.place, sent, now, lease_ms);
  }

  witness source;
  time_ns sent = 0;

 private:
  void on_acknowledged(const outcome& error, time_ns now) noexcept override {
    auto result = std::move(result_);
    if (!error.ok()) {
      result.what = lock::answer::unacknowledged;
      result.is_passing = error.is_retryable;
      result.details = error;
    }
    owner_.report(result, now);
  }
  void on_server_lost(time_ns now) noexcept override {
    lock::step_result result;
    result.what = lock::answer::broken;
    owner_.report(result, now);
  }

  server_request& owner_;
  lock::step_result result_;  // not acknowledged yet
};

server_request::server_request(lock_requester& requester) : requester_(requester) {}
server_request::~server_request() = default;

// Returns false if memory is lacking.
bool server_request::note_witness(witness source) noexcept try {
  if (source.replicas == nullptr) return true;
  if (!acknowledgement_) acknowledgement_ = std::make_unique<acknowledgement>(*this);
  acknowledgement_->source = source;
  acknowledgement_->sent = boot_now();
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void server_request::begin(const lock::step_request& step, const protocol::table& rules,
                           const protocol::key_set& keys) noexcept {
  rules_ = &rules;
  keys_ = &keys;
  what_ = step.what;
  lease_ms_ = step.ttl_ms;
  sent_at_ = step.sent_at;
}

status server_request::write(const lock::step_request& step, const protocol::table& rules,
                             const protocol::key_set& keys, const known_commands& commands,
                             bool is_moving) noexcept try {
  begin(step, rules, keys);
  bytes_.clear();
  const auto command = commands.load(std::memory_order_relaxed);
  is_without_script_ =
      command != redis::compare_and_delete::none && protocol::is_compare_and_delete(rules, step);
  const bool is_alone = is_moving && protocol::can_renew_alone(rules, step);
  is_of_one_key_ = is_without_script_ || is_alone || rules.rows.of(step.what).keys == 1;
  reply_count = 1;
  if (is_without_script_) {
    protocol::write_compare_and_delete(bytes_, command, step, keys);
  } else if (is_alone) {
    protocol::write_renewal_alone(bytes_, rules, step, keys);
  } else {
    reply_count = protocol::write_step(bytes_, rules, step, keys);
  }
  return status::ok;
} catch (const std::bad_alloc&) {
  return status::no_memory;
}

status server_request::submit(redis::connection& server, known_commands& commands,
                              const lock::operation* operation, witness source) noexcept {
  server_ = &server;
  if (!note_witness(source)) return status::no_memory;
  commands_ = &commands;
  caller = operation != nullptr && operation->awaits_answer ? operation->caller : nullptr;
  return server.commands().submit(*this, bytes_, flush_for(operation));
}

status server_request::gather(const lock::step_request& step, const protocol::table& rules,
                              const protocol::key_set& keys, redis::connection& server,
                              known_commands& commands, witness source) noexcept {
  begin(step, rules, keys);
  is_without_script_ = false;
  server_ = &server;
  commands_ = &commands;
  caller = nullptr;
  return note_witness(source) ? status::ok : status::no_memory;
}

status server_request::write_gathered(const lock::step_request& step) noexcept {
  return write(step, *rules_, *keys_, *commands_);
}

status server_request::submit_gathered(redis::connection& server) noexcept {
  return server.commands().submit(*this, bytes_, redis::flush::unattended);
}

status server_request::submit_asking(redis::connection& server, known_commands& commands) noexcept
    try {
  std::string asking;
  redis::command_writer(asking).command({"ASKING"});
  bytes_.insert(0, asking);
  reply_count = 2;
  return submit(server, commands, nullptr, {});
} catch (const std::bad_alloc&) {
  return status::no_memory;
}

redis::flush server_request::flush_for(const lock::operation* operation) noexcept {
  if (operation == nullptr) return redis::flush::by_io_thread;
  if (!operation->awaits_answer) return redis::flush::sent;
  if (operation->caller != nullptr) {
    return operation->caller->is_own() ? redis::flush::before_await : redis::flush::now;
  }
  return operation->comes_back ? redis::flush::by_io_thread : redis::flush::unattended;
}

void server_request::on_reply(const redis::value& reply, time_ns now) noexcept {
  if (sent_at_ != 0) server_->statistics().answered(now - sent_at_);
  if (reply.is_error() && is_forwarded(reply.text())) return;
  drop_long_text();
  if (lock::step_result result; reply.is_error() && is_misrouted(reply.text(), result))
    return report(result, now);
  if (is_without_script_ && reply.is_error()) {
    // The retry uses a script, whatever the error is.
    commands_->store(redis::compare_and_delete::none, std::memory_order_relaxed);
  }
  auto result = is_without_script_ ? protocol::read_compare_and_delete(reply)
                                   : protocol::read_step(*rules_, what_, reply, *keys_);
  conclude(std::move(result), now);
}

void server_request::on_batch_result(lock::step_result result, time_ns now,
                                     bool is_first) noexcept {
  if (is_first && sent_at_ != 0) server_->statistics().answered(now - sent_at_);
  conclude(std::move(result), now);
}

void server_request::conclude(lock::step_result result, time_ns now) noexcept {
  server_->hide_login(result.details);
  if (!acknowledgement_ || !is_relied_on(result)) return report(result, now);
  acknowledgement_->await(std::move(result), now, lease_ms_);
}

// The text of a script is sent only to a server that has forgotten it. A handle keeps its requests,
// so many handles would keep many texts.
void server_request::drop_long_text() noexcept {
  if (bytes_.capacity() > longest_kept) std::string().swap(bytes_);
}

void server_request::on_broken(bool was_sent) noexcept {
  drop_long_text();
  lock::step_result result;
  result.what = was_sent ? lock::answer::broken : lock::answer::unsent;
  report(result, boot_now());
}

}  // namespace mortise::deployment
