#include "client/query.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>

#include "lock/owner.hpp"
#include "protocol/owner_token.hpp"
#include "protocol/refusal.hpp"
#include "protocol/scripts/scripts.hpp"
#include "protocol/wire.hpp"
#include "redis/command.hpp"
#include "redis/connection.hpp"

namespace mortise::client {

namespace {

// A command whose reply is read into something that outlives a caller who has given up: the request
// keeps itself until it is answered.
class plain_request final : public redis::request {
 public:
  using reader = std::function<void(const redis::value&)>;
  // Whether it leaves a doubt that nobody answered: looking changes nothing.
  enum class purpose { looks, changes };

  static outcome run(redis::connection& server, const std::string& bytes, time_ns deadline,
                     purpose use, reader read) {
    auto call = std::make_shared<plain_request>(use, std::move(read));
    call->caller = &call->caller_;
    call->self_ = call;
    const auto submitted = server.submit(*call, bytes, redis::flush::before_await);
    if (submitted != status::ok) {
      call->self_.reset();
      auto problem = server.last_problem();
      if (!problem.ok()) return problem;
      if (submitted == status::limit) return outcome::of(submitted, "too many requests are open");
      return outcome::of(submitted);
    }
    if (!server.await(call->caller_, deadline)) {
      // The reader may refer to the caller's stack, so it must not run any more.
      const std::lock_guard guard(call->mutex_);
      if (!call->is_over_) {
        call->read_ = nullptr;
        auto how = outcome::of(status::unknown, "the server did not answer in time");
        how.is_retryable = true;
        how.is_ambiguous = use == purpose::changes;
        return how;
      }
    }
    return call->how_;
  }

  plain_request(purpose use, reader read)
      : is_change_(use == purpose::changes), read_(std::move(read)) {}

  void on_reply(const redis::value& reply, time_ns /*now*/) noexcept override {
    {
      const std::lock_guard guard(mutex_);
      try {
        if (reply.is_error() && reply.text().substr(0, 8) != "NOSCRIPT") {
          how_ = protocol::read_error(reply.text()).details;
          how_.is_ambiguous = how_.is_ambiguous && is_change_;
        } else if (read_) {
          read_(reply);
        }
      } catch (...) {
        how_.code = status::no_memory;
      }
      is_over_ = true;
    }
    end();
  }

  void on_broken(bool was_sent) noexcept override {
    {
      const std::lock_guard guard(mutex_);
      how_ = outcome::of(was_sent ? status::unknown : status::unreachable,
                         "the connection broke before the answer");
      how_.is_retryable = true;
      how_.is_ambiguous = was_sent && is_change_;
      is_over_ = true;
    }
    end();
  }

 private:
  void end() noexcept {
    const auto keep = std::move(self_);
    caller_.finish();
  }

  const bool is_change_;
  net::caller caller_;
  std::mutex mutex_;
  bool is_over_ = false;
  reader read_;
  outcome how_;
  std::shared_ptr<plain_request> self_;
};

lock_party party_of(std::string_view value, bool has_weight) {
  lock_party party;
  if (has_weight) {
    std::from_chars(value.data(), value.data() + value.size(), party.weight);
    value.remove_prefix(std::min(value.find(' '), value.size() - 1) + 1);
    party.is_exclusive = party.weight == lock::whole_weight;
    if (party.is_exclusive) party.weight = 1;
  }
  const auto parts = protocol::split_owner_token(value);
  party.owner = parts.token;
  party.client = parts.client;
  party.label = parts.label;
  return party;
}

std::int64_t number_of(const redis::value& text) {
  std::int64_t number = 0;
  const auto digits = text.text();
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

void read_query(const redis::value& reply, bool has_weights, lock_info& info) {
  info.latest_token = number_of(reply.at(2));
  info.is_mine = reply.at(3).integer() == 1;
  info.holder_count = reply.at(4).integer();
  info.is_held = info.holder_count > 0;
  info.time_left_ms = info.is_held ? reply.at(1).integer() : -1;
  info.waiter_count = reply.at(5).integer();
  info.permits_in_use = reply.at(7).integer();
  info.permits = reply.at(8).integer();
  // A read-write lock has no number of permits.
  if (info.permits == lock::whole_weight) info.permits = info.permits_in_use = 0;
  for (const std::size_t list : {0U, 6U}) {
    const auto& owners = reply.at(list);
    for (std::size_t i = 0; i < owners.size(); ++i) {
      info.entries.push_back(party_of(owners.at(i).text(), has_weights));
    }
    if (list == 0) info.shown_holders = static_cast<std::int64_t>(owners.size());
  }
}

void read_records(const redis::value& reply, lock_info& info) {
  for (std::size_t i = 0; i < info.entries.size() && i < reply.size(); ++i) {
    const auto record = reply.at(i).text();
    info.entries[i].pid = number_of(reply.at(i));
    const auto space = record.find(' ');
    if (space != std::string_view::npos) info.entries[i].host = record.substr(space + 1);
  }
}

}  // namespace

std::string record_key(std::string_view client_id) {
  return std::string("mortise:client:").append(client_id);
}

std::string record_text() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return std::to_string(getpid()) + " " + host;
}

namespace {

// Runs a script that is no step of a tenure, also when the server has forgotten it (hazard 27).
outcome run_script(redis::connection& server, const protocol::row& row, lock::question asked,
                   const protocol::key_set& keys, time_ns deadline, plain_request::purpose use,
                   const plain_request::reader& read) {
  bool is_missing = false;
  const auto read_unless_missing = [&](const redis::value& reply) {
    is_missing = reply.is_error();
    if (!is_missing) read(reply);
  };
  for (asked.with_text = false;; asked.with_text = true) {
    std::string bytes;
    protocol::write_script(bytes, row, asked, keys);
    auto how = plain_request::run(server, bytes, deadline, use, read_unless_missing);
    if (!how.ok() || !is_missing || asked.with_text) return how;
  }
}

}  // namespace

outcome ask_query(redis::connection& server, const protocol::table& rules,
                  const protocol::key_set& keys, const lock::question& asked,
                  std::int64_t timeout_ms, lock_info& info) {
  const auto deadline = boot_now() + timeout_ms * ns_per_ms;
  info = {};
  constexpr auto use = plain_request::purpose::looks;
  auto how =
      run_script(server, rules.query, asked, keys, deadline, use,
                 [&](const redis::value& reply) { read_query(reply, rules.has_weights, info); });
  if (!how.ok() || info.entries.empty()) return how;
  std::string bytes;
  redis::command_writer writer(bytes);
  writer.begin(1 + info.entries.size()).arg("MGET");
  for (const auto& party : info.entries) writer.arg(record_key(party.client));
  return plain_request::run(server, bytes, deadline, use,
                            [&](const redis::value& reply) { read_records(reply, info); });
}

outcome ask_resize(redis::connection& server, const protocol::key_set& keys, std::int64_t permits,
                   std::int64_t timeout_ms) {
  lock::question asked;
  asked.limit = permits;
  return run_script(server, {&scripts::semaphore_resize, 4, 5, "resize"}, asked, keys,
                    boot_now() + timeout_ms * ns_per_ms, plain_request::purpose::changes,
                    [](const redis::value&) {});
}

outcome ask_ping(redis::connection& server, std::int64_t timeout_ms) {
  std::string bytes;
  redis::command_writer(bytes).command({"PING"});
  return plain_request::run(server, bytes, boot_now() + timeout_ms * ns_per_ms,
                            plain_request::purpose::looks, [](const redis::value&) {});
}

}  // namespace mortise::client
