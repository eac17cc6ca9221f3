#include "deployment/single_server.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

#include "deployment/admission.hpp"
#include "deployment/command_request.hpp"
#include "local/local_resolver.hpp"
#include "net/resolver.hpp"
#include "net/tls_fault.hpp"
#include "protocol/client_record.hpp"
#include "protocol/inbox.hpp"
#include "protocol/protocols.hpp"
#include "protocol/wire.hpp"
#include "redis/connection.hpp"
#include "sentinel/sentinels.hpp"

namespace mortise::deployment {

namespace {

// What the present session's server is known to do without a script. It is only ever a guess: the
// server may change behind the connection, and then says so.
using known_commands = std::atomic<redis::compare_and_delete>;

// The highest fencing token that this client has seen of the database.
using seen_token = std::atomic<std::int64_t>;

// One server's word is the verdict.
class single_inquiry final : public inquiry, private redis::request {
 public:
  single_inquiry(redis::connection& server, const admission& entry, known_commands& known,
                 inquirer& asker)
      : server_(server), entry_(entry), known_(known), asker_(asker) {}

  status send(const lock::question& asked, const protocol::table& rules,
              const protocol::key_set& keys, const lock::operation* by) noexcept override try {
    if (!entry_.is_open()) return status::unreachable;
    rules_ = &rules;
    what_ = asked.what;
    bytes_.clear();
    const auto known = known_.load(std::memory_order_relaxed);
    is_without_script_ =
        known != redis::compare_and_delete::none && protocol::is_compare_and_delete(rules, asked);
    reply_count = 1;
    if (is_without_script_) {
      protocol::write_compare_and_delete(bytes_, known, asked, keys);
    } else {
      reply_count = protocol::write_step(bytes_, rules, asked, keys);
    }
    caller = by != nullptr ? by->caller : nullptr;
    return server_.submit(*this, bytes_, flush_for(by));
  } catch (const std::bad_alloc&) {
    return status::no_memory;
  }

 private:
  static redis::flush flush_for(const lock::operation* by) noexcept {
    if (by == nullptr) return redis::flush::by_io_thread;
    if (by->caller != nullptr) {
      return by->caller->is_own() ? redis::flush::before_await : redis::flush::now;
    }
    return by->comes_back ? redis::flush::by_io_thread : redis::flush::unattended;
  }
  void on_reply(const redis::value& reply, time_ns now) noexcept override {
    if (is_without_script_ && reply.is_error()) {
      // Whatever it is, it is asked again by script.
      known_.store(redis::compare_and_delete::none, std::memory_order_relaxed);
    }
    auto said = is_without_script_ ? protocol::read_compare_and_delete(reply)
                                   : protocol::read_step(*rules_, what_, reply);
    server_.hide_login(said.details);
    asker_.on_verdict(*this, said, now);
  }
  void on_broken(bool was_sent) noexcept override {
    lock::verdict said;
    said.what = was_sent ? lock::answer::broken : lock::answer::unsent;
    asker_.on_verdict(*this, said, boot_now());
  }

  redis::connection& server_;
  const admission& entry_;
  known_commands& known_;
  inquirer& asker_;
  const protocol::table* rules_ = nullptr;
  lock::step what_ = lock::step::try_take;
  bool is_without_script_ = false;
  std::string bytes_;  // kept for its capacity
};

class single_announcement final : public announcement {
 public:
  single_announcement(redis::connection& server, const protocol::command& said)
      : request_(std::make_shared<command_request>(server, said)) {}
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
      break;
  }
  return net::resolver_for_host(where.host, where.port);
}

// How often they are asked beside a connection that works: what they tell by themselves may be
// missed.
constexpr std::int64_t look_interval_ms = 30'000;

std::string client_name_of(const settings& terms) {
  return terms.client_name.empty() ? "mortise" : terms.client_name;
}

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
    config.hint_at_end = net::mend_silent_refusal;
  } else {
    config.hint_at_end = "; if the Sentinel speaks TLS, give sentinel_tls=on";
  }
  config.identity = std::make_shared<redis::credentials>(
      redis::login{where.sentinel_user, where.sentinel_password}, terms.sentinel_password_file,
      "sentinel_password_file");
  config.client_name = client_name_of(terms);
  // Who waits for the master is told what is wrong with them.
  config.command_timeout_ms = std::max<std::int64_t>(terms.command_timeout_ms / 2, 1);
  return config;
}

// None where the URL names the server itself.
std::shared_ptr<sentinel::sentinels> sentinels_of(const redis::endpoint_url& where,
                                                  const net::transport_factory& make_transport,
                                                  net::reactor& loop, const settings& terms) {
  if (!redis::has_sentinels(where.scheme)) return nullptr;
  std::vector<sentinel::sentinels::member> members;
  for (const auto& one : where.sentinels) {
    members.push_back({redis::text_of(one), config_of_sentinel(where, one, make_transport, terms)});
  }
  return std::make_shared<sentinel::sentinels>(loop, std::move(members), where.master,
                                               redis::place_text(where));
}

redis::prologue_command prologue_of(const protocol::command& said, std::string name,
                                    redis::prologue_command::need need) {
  redis::prologue_command made{std::move(name), {}, need};
  said.write(made.bytes, true);
  return made;
}

redis::connection_config config_of(const redis::endpoint_url& where,
                                   const net::transport_factory& make_transport,
                                   const settings& terms, std::string_view client_id,
                                   const std::shared_ptr<const seen_token>& seen) {
  using need = redis::prologue_command::need;
  redis::connection_config config;
  config.make_transport = make_transport;
  if (where.scheme == redis::url_scheme::tcp) {
    config.hint_at_end = "; if the port speaks TLS, the URL begins with rediss://";
  } else if (where.scheme == redis::url_scheme::sentinel) {
    config.hint_at_end = "; if the port speaks TLS, the URL begins with rediss+sentinel://";
  } else if (redis::has_tls(where.scheme)) {
    config.hint_at_end = net::mend_silent_refusal;
  }
  config.identity = std::make_shared<redis::credentials>(redis::login{where.user, where.password},
                                                         terms.password_file);
  config.database = where.db;
  config.client_name = client_name_of(terms);
  config.inbox = protocol::inbox_channel(client_id);
  config.scripts =
      protocol::scripts_of(terms.place.votes ? protocol::ballot() : protocol::queued());
  config.probe_key = protocol::probe_key;
  if (terms.place.votes) {
    const auto join = protocol::join_quorum({.client_id = std::string(client_id),
                                             .number = terms.place.number,
                                             .servers = terms.place.servers,
                                             .quarantine_ms = terms.quarantine_ms});
    config.is_replica_wrong = !redis::has_sentinels(where.scheme);
    config.why_no_cluster =
        "this is a node of a cluster, which fails with its others; give independent servers";
    config.prologue.push_back(prologue_of(join, "EVAL (joining the quorum)", need::always));
  }
  auto seed = prologue_of(protocol::seed(), "EVAL (seeding the fencing tokens)", need::always);
  seed.when_back = [seen] {
    std::string bytes;
    protocol::seed_again(seen->load(std::memory_order_relaxed)).write(bytes, true);
    return bytes;
  };
  config.prologue.push_back(std::move(seed));
  // Who holds something needs the connection, also where there is no memory for this.
  config.prologue.push_back(prologue_of(protocol::write_record(client_id), "SET mortise:client",
                                        need::when_there_is_memory));
  config.command_timeout_ms = terms.command_timeout_ms;
  config.busy_poll_us = terms.busy_poll_us;
  return config;
}

class single_server final : public deployment,
                            private redis::session_listener,
                            private admission::listener {
 public:
  single_server(net::reactor& loop, redis::connection_config config, const settings& terms,
                std::shared_ptr<seen_token> seen, std::shared_ptr<sentinel::sentinels> sentinels,
                mortise::deployment::listener& hears)
      : hears_(hears),
        seen_(std::move(seen)),
        inbox_(config.inbox),
        identity_(config.identity),
        entry_(loop, server_, config.where->text(), terms, config.database, *this),
        sentinels_(std::move(sentinels)),
        server_(loop, std::move(config), *this) {}
  ~single_server() override { close_sentinels(); }
  single_server(const single_server&) = delete;
  single_server& operator=(const single_server&) = delete;

  outcome open(time_ns deadline) override {
    auto opened = begin_sentinels();
    if (opened.ok()) opened = server_.open(deadline);
    if (opened.ok()) opened = entry_.await(deadline);
    if (!opened.ok()) close(0);
    return opened;
  }
  outcome begin() override {
    auto begun = begin_sentinels();
    if (begun.ok()) begun = server_.begin();
    return begun;
  }
  void close(time_ns linger_ns) noexcept override {
    server_.close(linger_ns);
    close_sentinels();
    entry_.close();
  }
  std::unique_ptr<inquiry> new_inquiry(inquirer& asker, const named_key& /*lock*/) override {
    return std::make_unique<single_inquiry>(server_, entry_, known_, asker);
  }
  bool await(const named_key& /*lock*/, net::caller& caller, time_ns deadline) noexcept override {
    return server_.await(caller, deadline);
  }
  bool await_any(net::caller& caller, time_ns deadline) noexcept override {
    return server_.await(caller, deadline);
  }
  void expect_messages(const named_key& /*lock*/, int change) noexcept override {
    server_.expect_messages(change);
  }
  void note_token(const named_key& /*lock*/, std::int64_t token) noexcept override {
    auto before = seen_->load(std::memory_order_relaxed);
    while (before < token &&
           !seen_->compare_exchange_weak(before, token, std::memory_order_relaxed)) {
    }
  }
  void listen(const named_key& /*lock*/, std::string_view channel) override {
    server_.listen(channel);
  }
  void unlisten(const named_key& /*lock*/, std::string_view channel) noexcept override {
    server_.unlisten(channel);
  }
  [[nodiscard]] outcome problem(const named_key& /*lock*/) const override { return problem(); }
  outcome ask(const named_key& /*lock*/, const protocol::command& asked,
              time_ns deadline) override {
    return ask_all(asked, deadline);
  }
  outcome ask_all(const protocol::command& asked, time_ns deadline) override {
    if (!entry_.is_open()) return problem();
    return command_request::ask(server_, asked, deadline);
  }
  outcome set_credentials(redis::login offered, time_ns deadline) override;
  std::unique_ptr<announcement> new_announcement(const protocol::command& said) override {
    return std::make_unique<single_announcement>(server_, said);
  }
  outcome examine(protocol::examination& into, time_ns deadline) override {
    return entry_.examine(into, deadline);
  }
  [[nodiscard]] std::shared_ptr<const protocol::examination> last_examination() const override {
    return entry_.last();
  }

 private:
  struct every_name final : name_set {
    [[nodiscard]] bool has(const named_key& /*lock*/) const noexcept override { return true; }
  };
  outcome begin_sentinels() {
    if (!sentinels_) return {};
    return sentinels_->begin([this] { server_.look(); });
  }
  void close_sentinels() noexcept {
    if (sentinels_) sentinels_->close();
  }
  [[nodiscard]] outcome problem() const {
    auto problem = server_.last_problem();
    return problem.ok() ? entry_.problem() : problem;
  }
  void on_up(const redis::session_facts& facts) noexcept override {
    known_.store(facts.compare_and_delete, std::memory_order_relaxed);
    entry_.on_up();
  }
  void on_down(const outcome& /*why*/) noexcept override { entry_.on_down(); }
  void on_admitted() noexcept override { hears_.on_up(every_name(), boot_now()); }
  void on_push(std::string_view channel, std::string_view payload, time_ns now) noexcept override {
    if (channel == inbox_) return hears_.on_message(payload, now);
    hears_.on_said(channel);
  }
  void on_listening(std::string_view channel) noexcept override { hears_.on_listening(channel); }

  mortise::deployment::listener& hears_;
  const std::shared_ptr<seen_token> seen_;
  const std::string inbox_;
  const std::shared_ptr<redis::credentials> identity_;
  admission entry_;  // which the connection tells of its end
  known_commands known_{redis::compare_and_delete::none};
  const std::shared_ptr<sentinel::sentinels> sentinels_;
  redis::connection server_;
};

outcome single_server::set_credentials(redis::login offered, time_ns deadline) {
  if (identity_->has_file()) {
    return outcome::of(status::invalid_argument,
                       "password_file: it is where this client's password comes from, also at a "
                       "reconnect; write the new one into it");
  }
  if (!server_.last_problem().ok()) {
    // Nobody is there to say whether they are right, and the next attempt may need them.
    server_.follow_identity(std::move(offered), false);
    return {};
  }
  protocol::command said;
  said.is_change = true;
  said.says = std::make_shared<const redis::login>(std::move(offered));
  said.write = [&](std::string& out, bool) {
    redis::command_writer(out).command({"AUTH", said.says->name(), said.says->password.view()});
  };
  // What the server has accepted is kept in the order of its answers, as many as may ask at once.
  said.read = [&](const redis::value&) { server_.follow_identity(*said.says, true); };
  auto how = command_request::ask(server_, said, deadline);
  // No error of AUTH has an effect.
  if (how.code == status::unknown && !how.server_text.empty()) how.code = status::refused;
  if (how.code == status::refused) {
    how.say("the server did not accept them, and those before stay in force: ", how.server_text);
  }
  return how;
}

}  // namespace

std::unique_ptr<deployment> make_single_server(const redis::endpoint_url& where,
                                               const transports& ways, net::reactor& loop,
                                               const settings& terms, std::string_view client_id,
                                               listener& hears) {
  auto seen = std::make_shared<seen_token>(0);
  auto config = config_of(where, ways.of_server, terms, client_id, seen);
  auto sentinels = sentinels_of(where, ways.of_sentinels, loop, terms);
  config.where = resolver_of(where, sentinels);
  if (sentinels) config.look_interval_ms = look_interval_ms;
  return std::make_unique<single_server>(loop, std::move(config), terms, std::move(seen),
                                         std::move(sentinels), hears);
}

}  // namespace mortise::deployment
