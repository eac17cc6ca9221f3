#include "deployment/single/single_server.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

#include "base/atomic_max.hpp"
#include "deployment/api/admission.hpp"
#include "deployment/api/server_config.hpp"
#include "deployment/replication/acknowledgements.hpp"
#include "deployment/replication/helper_connection.hpp"
#include "deployment/requests/command_request.hpp"
#include "deployment/requests/renewal_batches.hpp"
#include "deployment/requests/server_request.hpp"
#include "deployment/sentinel/sentinels.hpp"
#include "local/local_resolver.hpp"
#include "net/dial/resolver.hpp"
#include "net/tls/tls_fault.hpp"
#include "protocol/listing/client_record.hpp"
#include "protocol/native/inbox.hpp"
#include "protocol/protocols.hpp"
#include "redis/connection.hpp"

namespace mortise::deployment {

namespace {

// The highest fencing token that this client has seen of the database.
using seen_token = std::atomic<std::int64_t>;

// The reply of one server is the result.
class single_request final : public server_request {
 public:
  single_request(redis::connection& server, const admission& entry, acknowledgements* replicas,
                 const helper_connection* helper, known_commands& known, renewal_batches& renewals,
                 lock_requester& requester)
      : server_request(requester),
        server_(server),
        entry_(entry),
        replicas_(replicas),
        helper_(helper),
        commands_(known),
        renewals_(renewals) {}

  status send(const lock::step_request& step, const protocol::table& rules,
              const protocol::key_set& keys, const lock::operation* operation) noexcept override {
    if (!entry_.is_open()) return status::unreachable;
    if (replicas_ != nullptr && !replicas_->is_ready()) return status::unreachable;
    note_server(helper_);
    if (renewals_.admits(step, rules, operation)) {
      const auto gathered = gather(step, rules, keys, server_, commands_, {replicas_});
      return gathered == status::ok ? renewals_.add(*this, step, rules, keys) : gathered;
    }
    const auto written = write(step, rules, keys, commands_);
    if (written != status::ok) return written;
    renewals_.flush();
    return submit(server_, commands_, operation, {replicas_});
  }

 private:
  redis::connection& server_;
  const admission& entry_;
  acknowledgements* const replicas_;
  const helper_connection* const helper_;
  known_commands& commands_;
  renewal_batches& renewals_;
};

class single_broadcast final : public broadcast {
 public:
  single_broadcast(redis::connection& server, const protocol::command& command)
      : request_(std::make_shared<command_request>(server, command)) {}
  void send() noexcept override { request_->send(); }

 private:
  const std::shared_ptr<command_request> request_;
};

std::shared_ptr<net::resolver> resolver_of(const redis::endpoint_url& where,
                                           const std::shared_ptr<sentinel::sentinels>& sentinels) {
  if (sentinels) return sentinels;
  switch (where.scheme) {
    case redis::url_scheme::unix_socket:
      return net::resolver_for_path(where.path);
    case redis::url_scheme::local:
      return local::resolver_for_local();
    case redis::url_scheme::tcp:
    case redis::url_scheme::tls:
    case redis::url_scheme::sentinel:
    case redis::url_scheme::tls_sentinel:
    case redis::url_scheme::cluster:
    case redis::url_scheme::tls_cluster:
      break;
  }
  return net::resolver_for_host(where.host, where.port);
}

// How often the Sentinels are asked while the connection works, because their messages can be lost.
constexpr std::int64_t look_interval_ms = 30'000;

redis::connection_config config_of_sentinel(const redis::endpoint_url& where,
                                            const redis::host_port& one,
                                            const net::transport_factory& make_transport,
                                            const settings& terms) {
  redis::connection_config config;
  config.where = net::resolver_for_host(one.host, one.port);
  if (make_transport) {
    config.make_transport = [make_transport, host = one.host](const std::string&) {
      return make_transport(host);
    };
    config.hint_at_end = net::remedy_silent_refusal;
  } else {
    config.hint_at_end = "; if the Sentinel speaks TLS, give sentinel_tls=on";
  }
  config.identity = std::make_shared<redis::credentials>(
      redis::login{where.sentinel_user, where.sentinel_password}, terms.sentinel_password_file,
      "sentinel_password_file");
  config.client_name = client_name_of(terms);
  // Half of the timeout, so that a caller receives the Sentinels' problem in time.
  config.command_timeout_ms = std::max<std::int64_t>(terms.command_timeout_ms / 2, 1);
  return config;
}

// nullptr if the URL names the server itself.
std::shared_ptr<sentinel::sentinels> sentinels_of(const redis::endpoint_url& where,
                                                  const net::transport_factory& make_transport,
                                                  net::reactor& loop, const settings& terms) {
  if (!redis::has_sentinels(where.scheme)) return nullptr;
  std::vector<sentinel::sentinels::member> members;
  for (const auto& one : where.sentinels) {
    members.push_back({redis::text_of(one), config_of_sentinel(where, one, make_transport, terms)});
  }
  return std::make_shared<sentinel::sentinels>(loop, std::move(members), where.master,
                                               redis::place_text(where),
                                               address_map(terms.address_map));
}

redis::connection_config config_of(const redis::endpoint_url& where,
                                   const net::transport_factory& make_transport,
                                   const settings& terms, std::string_view client_id,
                                   const std::shared_ptr<const seen_token>& seen) {
  using need = redis::setup_command::need;
  auto config = server_config(where, make_transport, terms);
  const protocol::client_identity client{std::string(client_id), terms.key_prefix()};
  config.inbox = protocol::inbox_channel(client);
  config.why_no_cluster = "this is a server of a cluster; give redis+cluster://";
  if (terms.place.votes) {
    const auto join = protocol::join_quorum({.client = client,
                                             .number = terms.place.number,
                                             .servers = terms.place.servers,
                                             .quarantine_ms = terms.quarantine_ms});
    config.is_replica_wrong = !redis::has_sentinels(where.scheme);
    config.why_no_cluster =
        "this is a node of a cluster, whose nodes can fail together; give independent servers";
    config.setup.push_back(setup_of(join, "EVAL (joining the quorum)", need::always));
  }
  auto seed = setup_of(protocol::seed(client), "EVAL (seeding the fencing tokens)", need::always);
  seed.when_back = [client, seen] {
    std::string bytes;
    protocol::seed_again(client, seen->load(std::memory_order_relaxed)).write(bytes, true);
    return bytes;
  };
  config.setup.push_back(std::move(seed));
  // Holders need the connection, even if the server lacks memory for this record.
  config.setup.push_back(
      setup_of(protocol::write_record(client), "SET mortise:client", need::when_there_is_memory));
  return config;
}

// Only the Sentinels list the replicas.
acknowledgements::count_listed count_of(const std::shared_ptr<sentinel::sentinels>& sentinels) {
  if (!sentinels) return {};
  return [sentinels](const net::address& server) -> std::optional<listed_replicas> {
    const auto list = sentinels->replicas_of(server);
    if (!list) return std::nullopt;
    return listed_replicas{list->count.all, list->count.up, list->asked_at};
  };
}

class single_server final : public deployment,
                            private redis::session_listener,
                            private admission::listener,
                            private acknowledgements::listener {
 public:
  single_server(net::reactor& loop, redis::connection_config config, const settings& terms,
                std::string_view client_id, std::shared_ptr<seen_token> seen,
                std::shared_ptr<sentinel::sentinels> sentinels,
                mortise::deployment::listener& events)
      : listener_(events),
        seen_(std::move(seen)),
        inbox_(config.inbox),
        name_(config.where->text()),
        database_(config.database),
        identity_(config.identity),
        entry_(loop, server_, config.where->text(), terms, config.database, *this),
        sentinels_(std::move(sentinels)),
        acks_(acknowledgements::make(loop, config, terms, client_id, count_of(sentinels_), *this)),
        helper_(helper_connection::make(loop, config, events.helper())),
        server_(loop, std::move(config), *this),
        renewals_(loop, server_) {}
  ~single_server() override { close(0); }
  single_server(const single_server&) = delete;
  single_server& operator=(const single_server&) = delete;

  outcome open(time_ns deadline) override {
    auto opened = begin_sentinels();
    if (opened.ok()) opened = server_.open(deadline);
    if (opened.ok()) opened = entry_.await(deadline);
    if (opened.ok() && acks_) opened = acks_->await_ready(deadline);
    if (opened.ok() && helper_) opened = helper_->await(deadline);
    if (!opened.ok()) close(0);
    return opened;
  }
  outcome begin() override {
    auto begun = begin_sentinels();
    if (begun.ok()) begun = server_.begin();
    return begun;
  }
  void close(time_ns linger_ns) noexcept override {
    renewals_.flush();
    server_.close(linger_ns);
    renewals_.close();
    if (acks_) acks_->close();
    if (helper_) helper_->close();
    close_sentinels();
    entry_.close();
  }
  std::unique_ptr<lock_request> new_request(lock_requester& requester,
                                            const named_key& /*lock*/) override {
    return std::make_unique<single_request>(server_, entry_, acks_.get(), helper_.get(), commands_,
                                            renewals_, requester);
  }
  [[nodiscard]] bool is_granted_by_message(const named_key& /*lock*/) const noexcept override {
    return acks_ == nullptr;
  }
  bool await(const named_key& /*lock*/, net::caller& caller, time_ns deadline) noexcept override {
    return server_.commands().await(caller, deadline);
  }
  bool await_any(net::caller& caller, time_ns deadline) noexcept override {
    return server_.commands().await(caller, deadline);
  }
  void expect_messages(const named_key& /*lock*/, int change) noexcept override {
    server_.commands().expect_messages(change);
  }
  void note_token(const named_key& /*lock*/, std::int64_t token) noexcept override {
    raise_to(*seen_, token);
  }
  void listen(const named_key& /*lock*/, std::string_view channel) override {
    server_.listen(channel);
  }
  void unlisten(const named_key& /*lock*/, std::string_view channel) noexcept override {
    server_.unlisten(channel);
  }
  [[nodiscard]] std::int64_t database_of(const named_key& /*lock*/) const override {
    return database_;
  }
  [[nodiscard]] outcome problem(const named_key& /*lock*/) const override {
    auto problem = server_.last_problem();
    if (problem.ok()) problem = entry_.problem();
    return problem.ok() && acks_ ? acks_->problem() : problem;
  }
  outcome ask(const named_key& /*lock*/, const protocol::command& command,
              time_ns deadline) override {
    return ask_all(command, deadline);
  }
  outcome ask_all(const protocol::command& command, time_ns deadline) override {
    if (!entry_.is_open()) return common_problem();
    return command_request::ask(server_, command, deadline);
  }
  outcome converse(const protocol::dialogue_maker& begin, time_ns deadline,
                   protocol::missing_servers& /*missing*/) override {
    return hold_dialogue(begin, deadline,
                         [&](const auto& command) { return ask_all(command, deadline); });
  }
  outcome set_credentials(redis::login offered, time_ns deadline) override;
  std::unique_ptr<broadcast> new_broadcast(const protocol::command& command) override {
    return std::make_unique<single_broadcast>(server_, command);
  }
  outcome check_health(protocol::health& target, time_ns deadline) override {
    return entry_.check_health(target, deadline);
  }
  [[nodiscard]] std::shared_ptr<const protocol::health> last_health() const override {
    return entry_.last();
  }
  void add_statistics(statistics::snapshot& target) const override {
    server_.statistics().add_to(target, name_);
  }

 private:
  outcome begin_sentinels() {
    if (!sentinels_) return {};
    return sentinels_->begin([this] { server_.look(); });
  }
  void close_sentinels() noexcept {
    if (sentinels_) sentinels_->close();
  }
  void on_up(const redis::session_facts& facts) noexcept override {
    if (acks_ && acks_->note_session(facts)) listener_.on_unacknowledged(name_set(), boot_now());
    if (helper_) helper_->follow(facts);
    commands_.store(facts.compare_and_delete, std::memory_order_relaxed);
    entry_.on_fence_lifted({}, facts.handshake_ns);
    entry_.on_up();
  }
  void on_down(const outcome& /*why*/) noexcept override {
    entry_.on_down();
    if (acks_) acks_->on_server_down();
  }
  void on_admitted() noexcept override {
    if (acks_) {
      acks_->on_server_up();
      return acks_->begin();
    }
    listener_.on_up(name_set(), boot_now());
  }
  void on_acknowledging() noexcept override { listener_.on_up(name_set(), boot_now()); }
  void on_unacknowledging(const outcome& why) noexcept override {
    server_.commands().break_off(why);
  }
  // The Sentinels may know by now that a replica is down.
  void on_shortfall() noexcept override { server_.look(); }
  void on_push(std::string_view channel, std::string_view payload, time_ns now) noexcept override {
    if (channel == inbox_) return listener_.on_message(payload, now);
    listener_.on_channel_message(channel);
  }
  void on_listening(std::string_view channel) noexcept override { listener_.on_listening(channel); }
  void on_note(log_subject what, const outcome& details) noexcept override {
    listener_.on_note(what, details);
  }

  mortise::deployment::listener& listener_;
  const std::shared_ptr<seen_token> seen_;
  const std::string inbox_;
  const std::string name_;  // as in its URL
  const std::int64_t database_;
  const std::shared_ptr<redis::credentials> identity_;
  admission entry_;  // before server_, which reports its end to it
  known_commands commands_{redis::compare_and_delete::none};
  const std::shared_ptr<sentinel::sentinels> sentinels_;
  const std::unique_ptr<acknowledgements> acks_;  // before server_, which reports its end to it
  const std::unique_ptr<helper_connection> helper_;
  redis::connection server_;
  renewal_batches renewals_;
};

outcome single_server::set_credentials(redis::login offered, time_ns deadline) {
  return change_login(server_, *identity_, std::move(offered), deadline);
}

}  // namespace

std::unique_ptr<deployment> make_single_server(const redis::endpoint_url& where,
                                               const transports& ways, net::reactor& loop,
                                               const settings& terms, std::string_view client_id,
                                               listener& events) {
  auto seen = std::make_shared<seen_token>(0);
  auto config = config_of(where, ways.of_server, terms, client_id, seen);
  auto sentinels = sentinels_of(where, ways.of_sentinels, loop, terms);
  config.where = resolver_of(where, sentinels);
  if (sentinels) config.look_interval_ms = look_interval_ms;
  return std::make_unique<single_server>(loop, std::move(config), terms, client_id, std::move(seen),
                                         std::move(sentinels), events);
}

}  // namespace mortise::deployment
