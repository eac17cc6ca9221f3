#include "deployment/redlock/quorum.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/text/decimal.hpp"
#include "deployment/redlock/redlock_coordinator.hpp"
#include "deployment/redlock/votes/vote_count.hpp"
#include "deployment/sharded/server_group.hpp"
#include "lock/lease.hpp"
#include "net/dial/at_once.hpp"
#include "net/threads/caller.hpp"
#include "protocol/listing/listing.hpp"
#include "protocol/native/inbox.hpp"

namespace mortise::deployment {

namespace {

// How long open() waits for the other servers after a quorum, to report their problems. The second
// value is the interval of its checks.
constexpr time_ns open_patience_ns = 200 * ns_per_ms;
constexpr time_ns open_interval_ns = 2 * ns_per_ms;
// How long open() waits for the health checks of the connected servers.
constexpr time_ns health_patience_ns = 2 * ns_per_s;
// How long a command waits for all servers before a quorum of replies is enough.
constexpr time_ns query_patience_ns = 250 * ns_per_ms;

// The part of a server's reply that several servers must agree on.
using gist = std::vector<std::string>;

// The replies of the servers to one command.
struct replies {
  explicit replies(std::size_t servers) : gists(servers), results(servers) {}
  // The outcome without a quorum. A change that any server may have made is neither made nor not
  // made (hazard 15).
  [[nodiscard]] outcome failure() const;

  std::vector<gist> gists;
  std::vector<outcome> results;
  std::size_t answered = 0;  // the results that are ok
  std::size_t changed = 0;   // of these, the changes
};

outcome replies::failure() const {
  const auto find = [&](auto&& is_it) {
    return std::find_if(results.begin(), results.end(), is_it);
  };
  const auto unknown = find([](const auto& result) { return result.is_ambiguous; });
  if (unknown != results.end()) return *unknown;
  auto failed = *find([](const auto& result) { return !result.ok(); });
  if (changed > 0) {
    failed.code = status::unknown;
    failed.is_ambiguous = failed.is_retryable = true;
    failed.say(decimal(changed), " of ", decimal(results.size()), " servers made the change; ",
               failed.words());
  }
  return failed;
}

class quorum_deployment final : public deployment, private redlock_coordinator::listener {
 public:
  quorum_deployment(const std::vector<single_url>& servers, net::reactor& loop,
                    const settings& terms, std::string_view client_id,
                    mortise::deployment::listener& receiver)
      : listener_(receiver),
        needed_(quorum::needed_of(servers.size())),
        quarantine_ms_(terms.quarantine_ms),
        longest_lease_ms_(longest_lease(terms)),
        is_checking_health_(terms.health_check != "off"),
        server_listeners_(servers.size()),
        all_("server", needed_),
        coordinator_(all_, servers.size(), loop, *this) {
    for (std::size_t number = 0; number < servers.size(); ++number) {
      server_listeners_[number].all = this;
      server_listeners_[number].number = number;
      const auto& url = servers[number];
      all_.add(url.place, url.make(loop, terms, client_id, server_listeners_[number]));
    }
  }

  outcome open(time_ns deadline) override;
  outcome begin() override { return all_.begin(); }
  void close(time_ns linger_ns) noexcept override {
    all_.close(linger_ns);
    coordinator_.close();
  }
  outcome choose_rules(lock::lock_kind kind, const protocol::table& requested,
                       const protocol::table*& target) const override;
  [[nodiscard]] std::int64_t longest_lease_ms() const override { return longest_lease_ms_; }
  // All servers have the same, which their URLs must name.
  [[nodiscard]] std::int64_t database_of(const named_key& lock) const override {
    return all_.at(0).database_of(lock);
  }
  std::unique_ptr<lock_request> new_request(lock_requester& requester,
                                            const named_key& lock) override {
    return std::make_unique<quorum_request>(coordinator_, requester, lock);
  }
  // A caller can read only one connection, so the I/O thread reads for this caller.
  bool await(const named_key& /*lock*/, net::caller& caller, time_ns deadline) noexcept override {
    return caller.wait(deadline);
  }
  bool await_any(net::caller& caller, time_ns deadline) noexcept override {
    return caller.wait(deadline);
  }
  void expect_messages(const named_key& /*lock*/, int /*change*/) noexcept override {}
  void note_token(const named_key& lock, std::int64_t token) noexcept override;
  void listen(const named_key& lock, std::string_view channel) override;
  void unlisten(const named_key& lock, std::string_view channel) noexcept override;
  [[nodiscard]] outcome problem(const named_key& lock) const override;
  outcome ask(const named_key& lock, const protocol::command& command, time_ns deadline) override;
  // A hanging server costs at most the patience of a query.
  outcome ask_all(const protocol::command& command, time_ns deadline) override {
    const auto soon = all_.ask(command, std::min(deadline, boot_now() + query_patience_ns));
    return soon.ok() ? soon : all_.ask(command, deadline);
  }
  outcome ask_present(const protocol::command& command, time_ns deadline,
                      protocol::missing_servers& missing) override {
    return all_.ask_present(command, deadline, missing);
  }
  outcome converse(const protocol::dialogue_maker& begin, time_ns deadline,
                   protocol::missing_servers& missing) override {
    return all_.converse(begin, deadline, missing);
  }
  outcome check_health(protocol::health& target, time_ns deadline) override {
    return all_.check_health(target, deadline);
  }
  [[nodiscard]] std::shared_ptr<const protocol::health> last_health() const override {
    return all_.last_health();
  }
  void add_statistics(statistics::snapshot& target) const override { all_.add_statistics(target); }
  outcome set_credentials(redis::login offered, time_ns deadline) override {
    return all_.set_credentials(offered, deadline);
  }
  std::unique_ptr<broadcast> new_broadcast(const protocol::command& command) override {
    return all_.new_broadcast(command);
  }
  std::unique_ptr<broadcast> new_heartbeat(const protocol::client_identity& client) override;

 private:
  // Identifies the server of each event.
  struct server_listener final : mortise::deployment::listener {
    void on_up(const name_set& /*names*/, time_ns now) noexcept override {
      all->on_server_up(number, now);
    }
    // The quorum tolerates a lost vote. on_up() leads to a new request for the vote.
    void on_unacknowledged(const name_set& /*names*/, time_ns /*now*/) noexcept override {}
    // Votes are not grants: messages about a quorum only report that a lock is free, or that a
    // client waits for it. Listing messages concern no lock. A receiver of a forced release asks
    // all servers.
    void on_message(std::string_view text, time_ns now) noexcept override {
      const auto message = protocol::read_message(text);
      const bool is_of_force = message && message->kind == protocol::message_kind::forced;
      const bool is_of_waiter = message && message->kind == protocol::message_kind::contended;
      if (is_of_force) all->coordinator_.on_forced(message->owner, now);
      if (!is_of_force && !is_of_waiter && !protocol::is_listing_message(text)) return;
      all->listener_.on_message(text, now);
    }
    void on_channel_message(std::string_view channel) noexcept override {
      all->on_channel_message(number, channel);
    }
    void on_listening(std::string_view channel) noexcept override {
      all->on_listening(number, channel);
    }
    void on_note(log_subject what, const outcome& details) noexcept override {
      all->listener_.on_note(what, details);
    }
    quorum_deployment* all = nullptr;
    std::size_t number = 0;
  };

  // The servers with a subscription to a channel, and those with a message since the last quorum of
  // messages.
  struct channel_state {
    quorum::server_set listening;
    quorum::server_set published;
  };

  static std::int64_t longest_lease(const settings& terms) noexcept;
  void on_server_up(std::size_t number, time_ns now) noexcept;
  void on_retry_due(const name_set& names, time_ns now) noexcept override;
  void on_channel_message(std::size_t number, std::string_view channel) noexcept;
  void on_listening(std::size_t number, std::string_view channel) noexcept;
  [[nodiscard]] std::size_t count_up() const;
  [[nodiscard]] std::size_t count_checked() const;
  [[nodiscard]] outcome fault() const;
  void read(const protocol::command& command, const redis::value& reply, std::size_t number,
            replies& found);
  replies ask_each(const named_key& lock, const protocol::command& command, time_ns deadline);
  [[nodiscard]] std::vector<std::size_t> by_agreement(const replies& found) const;

  mortise::deployment::listener& listener_;
  const std::size_t needed_;
  const std::int64_t quarantine_ms_;
  const std::int64_t longest_lease_ms_;
  const bool is_checking_health_;
  std::vector<server_listener> server_listeners_;
  server_group all_;
  redlock_coordinator coordinator_;
  mutable std::mutex mutex_;
  std::map<std::string, channel_state, std::less<>> channels_;
};

// ---- opening --------------------------------------------------------------------------------

// Servers may be down while a quorum is up. A server that cannot be part of the quorum is an error.
outcome quorum_deployment::open(time_ns deadline) {
  if (auto begun = begin(); !begun.ok()) return begun;
  auto since = time_never;
  auto wrong = fault();
  for (auto now = boot_now(); wrong.ok() && now < deadline; now = boot_now()) {
    const auto up = count_up();
    if (up >= needed_) since = std::min(since, now);
    const bool is_known = up == all_.size() || now - since >= open_patience_ns;
    const bool is_checked = count_checked() >= up || now - since >= health_patience_ns;
    if (up >= needed_ && is_known && is_checked) break;
    std::this_thread::sleep_for(std::chrono::nanoseconds(open_interval_ns));
    wrong = fault();
  }
  if (wrong.ok()) wrong = common_problem();
  if (!wrong.ok()) close(0);
  return wrong;
}

// A problem of a server that retries cannot solve.
outcome quorum_deployment::fault() const {
  for (std::size_t number = 0; number < all_.size(); ++number) {
    auto result = all_.at(number).common_problem();
    if (result.code == status::refused && !result.is_retryable) {
      return all_.named(number, std::move(result));
    }
  }
  return {};
}

std::size_t quorum_deployment::count_checked() const {
  if (!is_checking_health_) return all_.size();
  std::size_t checked = 0;
  for (std::size_t number = 0; number < all_.size(); ++number) {
    if (all_.at(number).last_health()) ++checked;
  }
  return checked;
}

std::size_t quorum_deployment::count_up() const {
  std::size_t up = 0;
  for (std::size_t number = 0; number < all_.size(); ++number) {
    if (all_.at(number).common_problem().ok()) ++up;
  }
  return up;
}

outcome quorum_deployment::problem(const named_key& lock) const {
  const auto up = count_up();
  if (up >= needed_) return {};
  auto result = outcome::of(status::unreachable, decimal(up), " of ", decimal(all_.size()),
                            " servers are available, and ", decimal(needed_), " are needed");
  result.is_retryable = true;
  bool is_first = true;
  for (std::size_t number = 0; number < all_.size(); ++number) {
    const auto of_one = all_.named(number, all_.at(number).problem(lock));
    if (of_one.ok()) continue;
    result.say(result.words(), "; ", of_one.words());
    result.is_retryable = result.is_retryable && of_one.is_retryable;
    // The common code of all servers, if there is one.
    if (is_first) result.code = of_one.code;
    if (result.code != of_one.code) result.code = status::unreachable;
    is_first = false;
  }
  return result;
}

// ---- limits and rules -----------------------------------------------------------------------

// A server in quarantine waits for the longest lease of a vote that it may have forgotten.
std::int64_t quorum_deployment::longest_lease(const settings& terms) noexcept {
  if (terms.quarantine_ms == 0) return longest_ms;
  const auto fastest = lock::millionths + terms.drift_ppm;
  auto lease_ms = terms.quarantine_ms * lock::millionths / fastest;
  while (lease_ms > 0 && lock::server_ttl_ms(lease_ms, terms.drift_ppm) > terms.quarantine_ms) {
    --lease_ms;
  }
  return lease_ms;
}

outcome quorum_deployment::choose_rules(lock::lock_kind kind, const protocol::table& requested,
                                        const protocol::table*& target) const {
  if (kind == lock::lock_kind::semaphore) {
    return outcome::of(status::unsupported,
                       "redlock: does not support semaphores, because majorities of votes cannot "
                       "count permits; use one mutex for each permit, or one server, or shard:");
  }
  const bool is_rw = kind == lock::lock_kind::rw;
  const auto queued = is_rw ? &protocol::ballot_rw() : &protocol::ballot();
  for (const auto* const rules : {queued, is_rw ? queued : &protocol::ballot_token()}) {
    if (rules->facts.name != requested.facts.name) continue;
    target = rules;
    return {};
  }
  return outcome::of(status::unsupported, "protocol: ", requested.facts.name,
                     " does not support a quorum of servers; give queued",
                     is_rw ? "" : " or token");
}

// ---- from the servers -----------------------------------------------------------------------

// The server receives the releases that its broken connection lost. Holders send a request at once
// to complete their votes there.
void quorum_deployment::on_server_up(std::size_t number, time_ns now) noexcept {
  coordinator_.on_server_up(number, now);
  on_retry_due(name_set(), now);
}

// The servers also record this client's place for them. This detects a server that is added under a
// second name, and clients with another list (hazard 25).
std::unique_ptr<broadcast> quorum_deployment::new_heartbeat(
    const protocol::client_identity& client) {
  std::vector<std::unique_ptr<broadcast>> parts;
  parts.push_back(deployment::new_heartbeat(client));
  for (std::size_t number = 0; number < all_.size(); ++number) {
    const auto join = protocol::join_quorum({.client = client,
                                             .number = static_cast<std::int64_t>(number) + 1,
                                             .servers = static_cast<std::int64_t>(all_.size()),
                                             .quarantine_ms = quarantine_ms_});
    parts.push_back(all_.at(number).new_broadcast(join));
  }
  return std::make_unique<group_broadcast>(std::move(parts));
}

void quorum_deployment::on_retry_due(const name_set& names, time_ns now) noexcept {
  if (count_up() >= needed_) listener_.on_up(names, now);
}

void quorum_deployment::note_token(const named_key& lock, std::int64_t token) noexcept {
  coordinator_.note_token(token);
  for (std::size_t number = 0; number < all_.size(); ++number) {
    all_.at(number).note_token(lock, token);
  }
}

void quorum_deployment::listen(const named_key& lock, std::string_view channel) {
  {
    const std::lock_guard guard(mutex_);
    channels_.try_emplace(std::string(channel));
  }
  for (std::size_t number = 0; number < all_.size(); ++number) {
    all_.at(number).listen(lock, channel);
  }
}

void quorum_deployment::unlisten(const named_key& lock, std::string_view channel) noexcept {
  for (std::size_t number = 0; number < all_.size(); ++number) {
    all_.at(number).unlisten(lock, channel);
  }
  const std::lock_guard guard(mutex_);
  if (const auto known = channels_.find(channel); known != channels_.end()) channels_.erase(known);
}

// A released lock is free after a quorum of servers has reported it. A request after the first
// report would find the other votes taken. A second report by one server belongs to the next
// release.
void quorum_deployment::on_channel_message(std::size_t number, std::string_view channel) noexcept {
  {
    const std::lock_guard guard(mutex_);
    const auto known = channels_.find(channel);
    if (known == channels_.end()) return;
    auto& published = known->second.published;
    if (published.test(number)) published.reset();
    if (published.set(number).count() != needed_) return;
  }
  listener_.on_channel_message(channel);
}

void quorum_deployment::on_listening(std::size_t number, std::string_view channel) noexcept {
  {
    const std::lock_guard guard(mutex_);
    const auto known = channels_.find(channel);
    if (known == channels_.end()) return;
    if (known->second.listening.set(number).count() < needed_) return;
  }
  listener_.on_listening(channel);
}

// ---- queries --------------------------------------------------------------------------------

void quorum_deployment::read(const protocol::command& command, const redis::value& reply,
                             std::size_t number, replies& found) {
  if (command.gist) found.gists[number] = command.gist(reply);
  if (!command.is_change || !command.read) return;
  const std::lock_guard guard(mutex_);
  if (!command.has_changed || command.has_changed(reply)) ++found.changed;
  command.read(reply);
}

// Asks all servers at the same time, each of them once. The call returns when all have replied, at
// the deadline, or when a quorum has replied and the patience has ended.
replies quorum_deployment::ask_each(const named_key& lock, const protocol::command& command,
                                    time_ns deadline) {
  replies found(all_.size());
  std::atomic<std::size_t> answered = 0;
  const auto now = boot_now();
  const auto patient_until = now + std::min(query_patience_ns, (deadline - now) / 2);
  net::at_once(all_.size(), [&](std::size_t number) {
    try {
      auto copy = command;
      copy.read = [&](const redis::value& reply) { read(command, reply, number, found); };
      copy.is_dispensable = [&] { return answered >= needed_ && boot_now() >= patient_until; };
      found.results[number] = all_.named(number, all_.at(number).ask(lock, copy, deadline));
      if (found.results[number].ok()) ++answered;
    } catch (const std::bad_alloc&) {
      found.results[number] = outcome::of(status::no_memory);
    }
  });
  found.answered = answered;
  return found;
}

// All servers are asked for the part that they must agree on. One server that matches the quorum,
// with the fewest extra items, is asked for the full reply. Half of the time is left for that. A
// change is made on all servers, and never sent again: a second request could not find what the
// first one has changed.
outcome quorum_deployment::ask(const named_key& lock, const protocol::command& command,
                               time_ns deadline) {
  const auto began = boot_now();
  const auto half = began + (deadline - began) / 2;
  const auto found = ask_each(lock, command, command.is_change ? deadline : half);
  if (found.answered < needed_) return found.failure();
  if (command.is_change) return {};
  const auto patience = std::max(query_patience_ns, 2 * (boot_now() - began));
  const auto order = by_agreement(found);
  outcome result;
  for (const auto number : order) {
    const auto end = number == order.back() ? deadline : std::min(deadline, boot_now() + patience);
    result = all_.named(number, all_.at(number).ask(lock, command, end));
    if (result.ok()) break;
  }
  return result;
}

// The servers that replied. The first one reports everything that a quorum may report, and little
// more. Servers without a reply may agree with any other. A vote that one of the others has missed
// does not make a lock free.
std::vector<std::size_t> quorum_deployment::by_agreement(const replies& found) const {
  const auto& gists = found.gists;
  std::map<std::string, std::size_t> votes;
  std::vector<std::size_t> order;
  const auto absent = gists.size() - found.answered;
  const auto enough = needed_ - std::min(needed_ - 1, absent);
  for (std::size_t number = 0; number < gists.size(); ++number) {
    if (!found.results[number].ok()) continue;
    order.push_back(number);
    for (const auto& item : gists[number]) ++votes[item];
  }
  const auto distance = [&](std::size_t number) {
    const auto matching = std::count_if(gists[number].begin(), gists[number].end(),
                                        [&](const auto& item) { return votes[item] >= enough; });
    const auto agreed = std::count_if(votes.begin(), votes.end(),
                                      [&](const auto& item) { return item.second >= enough; });
    return std::pair(agreed - matching, gists[number].size());
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](auto one, auto other) { return distance(one) < distance(other); });
  return order;
}

}  // namespace

std::unique_ptr<deployment> make_quorum(const std::vector<single_url>& servers, net::reactor& loop,
                                        const settings& terms, std::string_view client_id,
                                        listener& receiver) {
  return std::make_unique<quorum_deployment>(servers, loop, terms, client_id, receiver);
}

}  // namespace mortise::deployment
