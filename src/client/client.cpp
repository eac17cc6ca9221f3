#include "client/client.hpp"

#include <new>
#include <utility>

#include "base/random.hpp"
#include "base/text/decimal.hpp"
#include "base/text/printable.hpp"
#include "client/handles/election_handle.hpp"
#include "client/handles/lock_handle.hpp"
#include "client/handles/multi_handle.hpp"
#include "client/presence/exit_release.hpp"
#include "client/presence/presence.hpp"
#include "lock/gate/owner.hpp"
#include "protocol/listing/listing.hpp"
#include "protocol/native/inbox.hpp"
#include "protocol/own_name.hpp"
#include "protocol/wire.hpp"

namespace mortise::client {

namespace {

// A release names up to four keys, each with the name and a namespace.
constexpr std::size_t longest_name_of_helper = 800;

// The release of a lock has its name, and must have room in the memory of the helper.
outcome check_name_for_helper(std::string_view name) {
  if (name.size() <= longest_name_of_helper) return {};
  return outcome::of(status::invalid_argument, "name: ", decimal(name.size()),
                     " bytes are above the maximum of ", decimal(longest_name_of_helper),
                     " with release_on_death; give a shorter name");
}

// How many permits the lock has.
std::int64_t capacity_of(lock::lock_kind kind, std::int64_t permits) noexcept {
  if (kind == lock::lock_kind::mutex) return 1;
  return kind == lock::lock_kind::rw ? lock::exclusive_permits : permits;
}

// Rejects options that the protocol of a lock lacks.
outcome check_protocol(const lock::protocol_facts& facts, const settings& terms) {
  if (terms.contended && !facts.notifies_holders) {
    return outcome::of(status::unsupported, "contended: the protocol ", facts.name,
                       " does not report waiters; omit the option, or give protocol=queued");
  }
  if (!terms.value.empty() && !facts.has_values) {
    return outcome::of(status::unsupported, "value: ", facts.name,
                       " stores no values; omit the option, or use protocol=queued without "
                       "redlock:");
  }
  return {};
}

}  // namespace

client::client(settings defaults)
    : id_(random_text(16)),
      defaults_(std::move(defaults)),
      counts_(defaults_.metrics_name),
      stats_watch_(reactor_),
      responder_(*this),
      listings_(*this),
      deadlocks_(std::make_shared<deadlock_search>(*this)) {}

// Another thread may have begun to close it and have dropped it, as exit() does.
client::~client() {
  close();
  if (!has_ended_) end_close(linger_ns);
}

outcome client::open(std::string_view url) {
  deployment::maker make;
  if (auto known = deployment::read_url(url, defaults_, make); !known.ok()) return known;
  return open(make);
}

outcome client::open(const deployment::maker& make) {
  if (auto started = reactor_.start(); !started.ok()) return started;
  key_prefix_ = defaults_.key_prefix();
  if (defaults_.releases_on_death) helper_ = std::make_unique<helper::helper_process>();
  servers_ = make(reactor_, defaults_, id_, static_cast<deployment::listener&>(*this));
  if (servers_->has_slots()) gates_.index_by(cluster::slot_of);
  presence_ =
      std::make_unique<presence>(reactor_, *servers_, protocol::client_identity{id_, key_prefix_});
  auto opened = defaults_.connects_lazily ? servers_->begin() : servers_->open(command_deadline());
  if (opened.ok()) presence_->begin();
  if (opened.ok() && defaults_.release_at_exit) opened = close_at_exit(weak_from_this());
  return opened;
}

void client::close() noexcept {
  if (begin_close()) end_close(linger_ns);
}

bool client::begin_close() noexcept {
  if (is_closed_.exchange(true)) return false;
  gates_.close();
  listings_.close();
  if (presence_) presence_->end();
  return true;
}

void client::end_close(time_ns longest_ns) noexcept {
  has_ended_ = true;
  if (servers_) servers_->close(longest_ns);
  elections_.end();
  deadlocks_->end();
  reactor_.stop();
  // The log and the watches keep their queues, and the queues keep this client.
  log_.end();
  stats_watch_.end();
  lock_watch_.end();
  close_multis();
  gates_.clear();
  if (helper_) helper_->end();
}

// ---- gates ----------------------------------------------------------------------------------

outcome client::new_handle(lock::lock_kind kind, std::string_view name, const settings& terms,
                           std::int64_t capacity, std::shared_ptr<lock_handle>& target) {
  return make_handle(kind, name, terms, capacity, target);
}

outcome client::new_handle(lock::lock_kind kind, std::string_view name, const settings& terms,
                           std::int64_t capacity, std::shared_ptr<election_handle>& target) {
  return make_handle(kind, name, election_handle::terms_of(terms), capacity, target);
}

template <class Handle>
outcome client::make_handle(lock::lock_kind kind, std::string_view name, const settings& terms,
                            std::int64_t capacity, std::shared_ptr<Handle>& target) {
  if (is_closed()) return client_freed();
  const auto* rules = protocol::find(kind, terms.protocol);
  if (rules == nullptr) return protocol::no_such_protocol(kind, terms.protocol);
  if (rules->facts.wait != lock::wait_method::queue) {
    if (auto fit = check_foreign_name(name, *rules); !fit.ok()) return fit;
  }
  if (auto fit = check_lease(terms.lease_ms); !fit.ok()) return fit;
  if (auto fit = helper_ ? check_name_for_helper(name) : outcome(); !fit.ok()) return fit;
  if (auto fit = servers_->choose_rules(kind, *rules, rules); !fit.ok()) return fit;
  if (auto fit = check_protocol(rules->facts, terms); !fit.ok()) return fit;
  load_scripts(*rules);
  auto keys = protocol::keys_of(*rules, key_prefix_, name);
  if (auto placed = servers_->place(keys); !placed.ok()) return placed;
  const auto joined = gates_.join(
      kind, keys.front(), registry<gate_driver>::may_share(rules->facts, terms.fair_strict),
      [&](std::uint64_t gate_id) {
        return std::make_shared<gate_driver>(*this, gate_id, kind, name, *rules, keys);
      });
  if (!joined) return client_freed();
  auto own_terms = terms;
  if (kind == lock::lock_kind::semaphore) {
    own_terms.reentrant_read = own_terms.reentrant_write = false;
  }
  try {
    target = std::make_shared<Handle>(shared_from_this(), joined, std::string(name), kind,
                                      own_terms, capacity_of(kind, capacity));
  } catch (const std::bad_alloc&) {
    gates_.release(*joined);
    throw;
  }
  return {};
}

// Formats of other programs use names as keys.
outcome client::check_foreign_name(std::string_view name, const protocol::table& rules) const {
  if (!protocol::own_name(name).empty()) {
    return outcome::of(status::invalid_argument, "name: ", printable(name),
                       " begins like Mortise's own keys, and ", rules.facts.name,
                       " uses names as keys; give another name");
  }
  if (name.starts_with(key_prefix_)) return {};
  return outcome::of(status::invalid_argument, "name: ", printable(name),
                     " is outside of the option namespace, and ", rules.facts.name,
                     " uses names as keys; give a name that begins with ", printable(key_prefix_),
                     ", or a client without the option");
}

outcome client::check_lease(std::int64_t lease_ms) const {
  const auto longest = servers_->longest_lease_ms();
  if (lease_ms <= longest) return {};
  return outcome::of(status::invalid_argument, "lease: ", decimal(lease_ms), " ms is above ",
                     decimal(longest),
                     " ms, the maximum that the client's option quarantine allows; give a shorter "
                     "lease or a longer quarantine");
}

// Every server has the scripts of the common mutex. Other kinds load theirs with the first handle,
// so unused kinds cost no memory. A server may have forgotten a script when the helper process
// needs it, or may be a later one (hazard 27).
void client::load_scripts(const protocol::table& rules) {
  {
    const std::lock_guard guard(mutex_);
    if (known_protocols_.contains(&rules)) return;
    if (helper_) {
      std::string command;
      protocol::write_loading_for_dead(command, rules);
      helper_->add_script(command);
    }
    known_protocols_.insert(&rules);
  }
  if (&rules == &protocol::queued() || rules.facts.wait != lock::wait_method::queue) return;
  // Loading first keeps the first request from being overtaken by later ones.
  for (const auto* script : protocol::scripts_of(rules)) {
    servers_->new_broadcast(protocol::load(*script))->send();
  }
}

std::shared_ptr<multi_handle> client::new_multi() {
  auto made = std::make_shared<multi_handle>(shared_from_this());
  const std::lock_guard guard(mutex_);
  std::erase_if(multis_, [](const auto& item) { return item.expired(); });
  multis_.push_back(made);
  return made;
}

// After the I/O thread has ended, only close() ends their calls.
void client::close_multis() noexcept {
  std::vector<std::weak_ptr<multi_handle>> multis;
  {
    const std::lock_guard guard(mutex_);
    multis.swap(multis_);
  }
  for (const auto& item : multis) {
    if (const auto multi = item.lock()) multi->close();
  }
}

outcome client::ping() {
  if (is_closed()) return client_freed();
  return answered(servers_->ask_all(protocol::ping(), command_deadline()));
}

outcome client::check_health(protocol::health& target) {
  if (is_closed()) return client_freed();
  return answered(servers_->check_health(target, command_deadline()));
}

outcome client::read_last_health(protocol::health& target) const {
  if (is_closed()) return client_freed();
  if (const auto last = servers_->last_health()) target = *last;
  return {};
}

outcome client::read_statistics(statistics::snapshot& target) const {
  if (is_closed()) return client_freed();
  counts_.add_to(target);
  servers_->add_statistics(target);
  return {};
}

outcome client::list_locks(protocol::listing& target, time_ns deadline) {
  if (is_closed()) return client_freed();
  return answered(listings_.take(target, deadline));
}

// The clocks of the clients do not matter: each reports ages, and this client asks the server of
// the lock for its time.
outcome client::list_history(protocol::listing& target, std::string_view name,
                             std::int64_t window_ms, time_ns deadline) {
  if (is_closed()) return client_freed();
  auto keys = protocol::keys_of(protocol::queued(), key_prefix_, name);
  if (auto placed = servers_->place(keys); !placed.ok()) return placed;
  protocol::clock_reading clock;
  const auto began = boot_now();
  auto read = servers_->ask({name, keys.front()}, protocol::read_clock(clock.server_us), deadline);
  if (!read.ok()) return answered(std::move(read));
  const auto half = (boot_now() - began) / 2;
  clock.at = began + half;
  clock.error_us = half / ns_per_us + 1;
  return answered(listings_.take_history(target, deadline, {std::string(name), window_ms}, clock));
}

// The listing itself reports what the deadline cut off.
outcome client::scan_keys(protocol::listing& target, protocol::key_scan_terms terms,
                          time_ns deadline) {
  if (is_closed()) return client_freed();
  if (!terms.pattern.empty() && !terms.pattern.starts_with(key_prefix_)) {
    return outcome::of(status::invalid_argument, "pattern: ", printable(terms.pattern),
                       " matches keys outside of the option namespace; give a pattern that begins "
                       "with ",
                       printable(key_prefix_), ", or a client without the option");
  }
  terms.prefix = key_prefix_;
  protocol::key_scan scan(terms);
  protocol::missing_servers missing;
  auto result = answered(servers_->converse([&] { return scan.begin(); }, deadline, missing));
  scan.take_into(target);
  target.missing = std::move(missing);
  const bool is_cut = !result.ok() && boot_now() >= deadline && target.answered > 0;
  return is_cut ? outcome() : result;
}

outcome client::watch_log(std::shared_ptr<event_queue> queue, std::int64_t tag, log_level level) {
  if (is_closed()) return client_freed();
  return log_.watch(std::move(queue), tag, level);
}

outcome client::watch_stats(std::shared_ptr<event_queue> queue, std::int64_t tag,
                            std::int64_t interval_ms) {
  if (is_closed()) return client_freed();
  return stats_watch_.watch(std::move(queue), tag, interval_ms);
}

outcome client::watch_locks(std::shared_ptr<event_queue> queue, std::int64_t tag) {
  if (is_closed()) return client_freed();
  return lock_watch_.watch(std::move(queue), tag);
}

outcome client::set_credentials(std::string_view user, std::string_view password) {
  if (is_closed()) return client_freed();
  return answered(
      servers_->set_credentials({std::string(user), secret(password)}, command_deadline()));
}

outcome client::answered(outcome result) const {
  const bool is_unanswered = result.code == status::unknown || result.code == status::unreachable ||
                             result.code == status::limit;
  if (!is_unanswered || !is_closed()) return result;
  auto closed = client_freed();
  closed.is_ambiguous = result.is_ambiguous;
  return closed;
}

// ---- from the servers -----------------------------------------------------------------------

void client::listen(const deployment::named_key& lock, std::string_view channel,
                    std::uint64_t gate_id) {
  subscriptions_.add(*servers_, lock, channel, gate_id);
}

void client::unlisten(const deployment::named_key& lock, std::string_view channel,
                      std::uint64_t gate_id) noexcept {
  subscriptions_.remove(*servers_, lock, channel, gate_id);
}

void client::on_up(const deployment::name_set& names, time_ns /*now*/) noexcept {
  subscriptions_.mark_new(names);
  gates_.enter_each_of(names, [](lock::gate& gate, time_ns now) { gate.on_up(now); });
}

void client::on_unacknowledged(const deployment::name_set& names, time_ns /*now*/) noexcept {
  gates_.enter_each_of(names, [](lock::gate& gate, time_ns) { gate.on_unacknowledged(); });
}

void client::on_channel_message(std::string_view channel) noexcept {
  std::uint64_t last = 0;
  while ((last = subscriptions_.next_listener(channel, last)) != 0) check_gate(last);
}

void client::on_listening(std::string_view channel) noexcept {
  while (const auto gate_id = subscriptions_.next_new_subscriber(channel)) check_gate(gate_id);
}

void client::check_gate(std::uint64_t gate_id) noexcept {
  gates_.enter(gate_id, [](lock::gate& gate, time_ns now) { gate.on_free(now); });
}

void client::on_message(std::string_view text, time_ns /*now*/) noexcept {
  if (protocol::is_listing_message(text)) {
    responder_.on_message(text);
    listings_.on_message(text);
  } else if (const auto message = protocol::read_message(text)) {
    gates_.deliver(*message);
  }
}

}  // namespace mortise::client
