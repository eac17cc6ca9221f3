#include "client/client.hpp"

#include <new>
#include <utility>

#include "base/printable.hpp"
#include "base/random.hpp"
#include "client/exit_release.hpp"
#include "client/inbox.hpp"
#include "client/lock_handle.hpp"
#include "client/multi_handle.hpp"
#include "client/query.hpp"
#include "client/script_loader.hpp"
#include "deployment/single_server.hpp"
#include "lock/owner.hpp"
#include "protocol/interop.hpp"
#include "protocol/scripts/scripts.hpp"
#include "redis/command.hpp"
#include "redis/connection.hpp"
#include "redis/url.hpp"

namespace mortise::client {

namespace {

constexpr std::int64_t record_ttl_ms = 60'000;
constexpr time_ns heartbeat_ns = 20 * ns_per_s;

std::string record_command(std::string_view client_id) {
  std::string bytes;
  redis::command_writer(bytes)
      .begin(5)
      .arg("SET")
      .arg(record_key(client_id))
      .arg(record_text())
      .arg("PX")
      .arg(record_ttl_ms);
  return bytes;
}

std::string farewell_command(std::string_view client_id) {
  std::string bytes;
  redis::command_writer(bytes).command({"DEL", record_key(client_id)});
  return bytes;
}

std::string seed_command() {
  std::string bytes;
  redis::command_writer(bytes).command({"EVAL", scripts::seed.text, "1", protocol::fence_key});
  return bytes;
}

}  // namespace

// Also a sign of life: a connection that does not answer it in time counts as broken.
class client::heartbeat final : public net::timer, public redis::request {
 public:
  explicit heartbeat(client& owner)
      : owner_(owner), bytes_(record_command(owner.id_)), farewell_(farewell_command(owner.id_)) {}

  void on_timer(time_ns now) noexcept override {
    owner_.reactor_.schedule(*this, now + heartbeat_ns);
    if (is_open_.exchange(true)) return;
    auto& server = owner_.servers_->connection_for({});
    if (server.submit(*this, bytes_, redis::flush::by_io_thread) != status::ok) is_open_ = false;
  }
  // So that nobody takes a client that is gone for one that is alive.
  void say_farewell() noexcept {
    owner_.reactor_.cancel(*this);
    if (is_open_.exchange(true)) return;
    auto& server = owner_.servers_->connection_for({});
    static_cast<void>(server.submit(*this, farewell_, redis::flush::by_io_thread));
  }
  void on_reply(const redis::value& /*reply*/, time_ns /*now*/) noexcept override {
    is_open_ = false;
  }
  void on_broken(bool /*was_sent*/) noexcept override { is_open_ = false; }

 private:
  client& owner_;
  const std::string bytes_;
  const std::string farewell_;
  std::atomic<bool> is_open_{false};
};

client::client(settings defaults) : id_(random_text(16)), defaults_(std::move(defaults)) {}

client::~client() { close(); }

outcome client::open(std::string_view url) {
  redis::endpoint_url where;
  if (auto parsed = redis::parse_url(url, where); !parsed.ok()) return parsed;
  for (const auto& [key, value] : where.query) {
    if (auto set = set_option(defaults_, key, value); !set.ok()) return set;
  }
  if (auto started = reactor_.start(); !started.ok()) return started;
  using need = redis::prologue_command::need;
  deployment::session_plan plan;
  plan.inbox = inbox_channel(id_);
  plan.prologue.push_back({"EVAL (seeding the fencing tokens)", seed_command(), need::always});
  // Who holds something needs the connection, also where there is no memory for this.
  plan.prologue.push_back({"SET mortise:client", record_command(id_), need::when_there_is_memory});
  servers_ = deployment::open_single_server(reactor_, where, defaults_, std::move(plan),
                                            static_cast<deployment::listener&>(*this));
  heartbeat_ = std::make_unique<heartbeat>(*this);
  auto opened = defaults_.connects_lazily ? servers_->begin() : servers_->open(command_deadline());
  if (opened.ok()) reactor_.schedule(*heartbeat_, boot_now() + heartbeat_ns);
  if (opened.ok() && defaults_.release_at_exit) opened = close_at_exit(weak_from_this());
  return opened;
}

void client::close() noexcept {
  if (begin_close()) end_close(linger_ns);
}

bool client::begin_close() noexcept {
  if (is_closed_.exchange(true)) return false;
  each_keeper([](lock::gate& gate, time_ns now) { gate.close(now); });
  if (heartbeat_) heartbeat_->say_farewell();
  return true;
}

void client::end_close(time_ns longest_ns) noexcept {
  if (servers_) servers_->close(longest_ns);
  reactor_.stop();
  close_multis();
  std::map<std::uint64_t, std::shared_ptr<gatekeeper>> gone;
  const std::lock_guard guard(registry_mutex_);
  gone.swap(keepers_);
  shared_keepers_.clear();
}

// ---- gates ----------------------------------------------------------------------------------

outcome client::new_handle(lock::lock_kind kind, std::string_view name, const settings& terms,
                           std::int64_t permits, std::shared_ptr<lock_handle>& into) {
  if (is_closed()) return client_freed();
  const auto* rules = protocol::find(kind, terms.protocol);
  if (rules == nullptr) return protocol::no_such_protocol(kind, terms.protocol);
  if (rules->facts.how != lock::wait_method::queue && protocol::is_own_key(name)) {
    return outcome::of(status::invalid_argument, "name: " + printable(name) +
                                                     " begins as Mortise's own keys do, and " +
                                                     std::string(rules->facts.name) +
                                                     " takes names as keys; give another name");
  }
  const auto limit = kind == lock::lock_kind::mutex ? 1
                     : kind == lock::lock_kind::rw  ? lock::whole_weight
                                                    : permits;
  know_scripts(*rules);
  // `strict` competes by itself: nobody of this client passes the lock on to it or gets it from it.
  const bool is_shared =
      kind == lock::lock_kind::mutex && rules->facts.how == lock::wait_method::queue;
  auto keeper = keeper_for(name, is_shared && !terms.fair_strict, *rules);
  if (!keeper) return client_freed();
  auto own_terms = terms;
  if (kind == lock::lock_kind::semaphore) {
    own_terms.reentrant_read = own_terms.reentrant_write = false;
  }
  try {
    into = std::make_shared<lock_handle>(shared_from_this(), keeper, std::string(name), own_terms,
                                         limit);
  } catch (const std::bad_alloc&) {
    drop(keeper);
    throw;
  }
  return {};
}

// Every server knows the scripts of the common mutex; those of other kinds follow with their first
// handle, so that a client without them costs no memory for them.
void client::know_scripts(const protocol::table& rules) {
  if (&rules == &protocol::queued() || rules.facts.how != lock::wait_method::queue) return;
  {
    const std::lock_guard guard(registry_mutex_);
    if (!known_protocols_.insert(&rules).second) return;
  }
  script_loader::load(servers_->connection_for({}), protocol::scripts_of(rules));
}

std::shared_ptr<multi_handle> client::new_multi() {
  auto made = std::make_shared<multi_handle>(shared_from_this());
  const std::lock_guard guard(registry_mutex_);
  std::erase_if(multis_, [](const auto& item) { return item.expired(); });
  multis_.push_back(made);
  return made;
}

// Without the I/O thread nobody else takes their calls to an end.
void client::close_multis() noexcept {
  std::vector<std::weak_ptr<multi_handle>> multis;
  {
    const std::lock_guard guard(registry_mutex_);
    multis.swap(multis_);
  }
  for (const auto& item : multis) {
    if (const auto multi = item.lock()) multi->close();
  }
}

outcome client::ping() {
  if (is_closed()) return client_freed();
  return answered(ask_ping(servers_->connection_for({}), defaults_.command_timeout_ms));
}

outcome client::answered(outcome how) const {
  const bool is_unanswered =
      how.code == status::unknown || how.code == status::unreachable || how.code == status::limit;
  if (!is_unanswered || !is_closed()) return how;
  auto closed = client_freed();
  closed.is_ambiguous = how.is_ambiguous;
  return closed;
}

std::shared_ptr<gatekeeper> client::keeper_for(std::string_view name, bool is_shared,
                                               const protocol::table& rules) {
  const auto key = rules.keys(name).front();
  const std::lock_guard guard(registry_mutex_);
  if (is_closed()) return nullptr;  // its gate would never be closed
  if (is_shared) {
    const auto known = shared_keepers_.find(key);
    if (known != shared_keepers_.end()) {
      auto keeper = keepers_.at(known->second);
      ++keeper->handles;
      return keeper;
    }
  }
  const auto number = next_keeper_++;
  auto keeper = std::make_shared<gatekeeper>(*this, number, name, rules);
  keepers_.emplace(number, keeper);
  if (is_shared) shared_keepers_.emplace(key, number);
  ++keeper->handles;
  return keeper;
}

void client::drop(const std::shared_ptr<gatekeeper>& keeper) noexcept {
  --keeper->handles;
  retire_if_idle(*keeper);
}

void client::retire_if_idle(gatekeeper& keeper) noexcept {
  if (keeper.handles.load() > 0 || !keeper.is_idle()) return;
  std::shared_ptr<gatekeeper> gone;  // destroyed without the mutex
  const std::lock_guard guard(registry_mutex_);
  if (keeper.handles.load() > 0 || !keeper.is_idle()) return;
  const auto known = keepers_.find(keeper.id());
  if (known == keepers_.end()) return;
  gone = std::move(known->second);
  keepers_.erase(known);
  const auto shared = shared_keepers_.find(keeper.keys().front());
  if (shared != shared_keepers_.end() && shared->second == keeper.id()) {
    shared_keepers_.erase(shared);
  }
}

std::shared_ptr<gatekeeper> client::next_keeper(std::uint64_t from) noexcept {
  const std::lock_guard guard(registry_mutex_);
  const auto next = keepers_.lower_bound(from);
  return next == keepers_.end() ? nullptr : next->second;
}

template <class Step>
void client::each_keeper(Step&& step) noexcept {
  for (auto keeper = next_keeper(0); keeper; keeper = next_keeper(keeper->id() + 1)) {
    keeper->enter(step);
  }
}

// ---- from the servers -----------------------------------------------------------------------

void client::on_up(time_ns /*now*/) noexcept {
  lines_.begin_anew();
  each_keeper([](lock::gate& gate, time_ns now) { gate.on_up(now); });
}

void client::on_said(std::string_view channel) noexcept {
  std::uint64_t last = 0;
  while ((last = lines_.next_listener(channel, last)) != 0) look_anew(last);
}

void client::on_listening(std::string_view channel) noexcept {
  while (const auto keeper = lines_.next_newcomer(channel)) look_anew(keeper);
}

void client::look_anew(std::uint64_t number) noexcept {
  const auto keeper = next_keeper(number);
  if (!keeper || keeper->id() != number) return;
  keeper->enter([](lock::gate& gate, time_ns now) { gate.on_free(now); });
  retire_if_idle(*keeper);
}

void client::on_message(std::string_view text, time_ns /*now*/) noexcept {
  const auto told = read_message(text);
  if (!told) return;
  const auto keeper = next_keeper(told->keeper);
  if (!keeper || keeper->id() != told->keeper) return;
  keeper->enter([&](lock::gate& gate, time_ns now) {
    switch (told->kind) {
      case message_kind::grant:
        keeper->see_last_holder();
        return gate.on_grant(told->owner, told->last_token, told->server_us, told->others_wait,
                             now);
      case message_kind::head:
        return gate.on_head(told->owner, told->ttl_ms, now);
      case message_kind::wanted:
        return gate.on_wanted(told->owner, now);
    }
  });
  retire_if_idle(*keeper);
}

}  // namespace mortise::client
