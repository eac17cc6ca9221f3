#include "client/presence/listings.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "client/client.hpp"
#include "protocol/native/inbox.hpp"

namespace mortise::client {

namespace {

// The maximum of open requests. It keeps a server's output buffer for this client far below the
// size at which the server closes the connection.
constexpr std::size_t most_awaited = 64;
// The maximum of events in a history, and of those from one client: its ring and its present state.
constexpr std::size_t most_events = 100'000;
constexpr std::size_t most_events_each =
    lock_history::capacity + listing_responder::most_present + 1;
// How long an unanswered request counts as open. After this time it is repeated.
constexpr time_ns patience_ns = 500 * ns_per_ms;
// How often a waiting listing checks for that time.
constexpr time_ns look_interval_ns = 50 * ns_per_ms;

std::chrono::nanoseconds until_look(time_ns deadline) noexcept {
  return std::chrono::nanoseconds(std::clamp<time_ns>(deadline - boot_now(), 0, look_interval_ns));
}
// The maximum of slots that are tried to find one whose server replies.
constexpr int most_slots = 64;

// Sends a command to all servers. A server without a reply after half of the time is missing, and
// gets no further requests. So time remains for clients of the other servers. If no server has
// replied, all servers get the whole time.
outcome ask_present(deployment::deployment& servers, const protocol::command& command,
                    time_ns deadline, protocol::missing_servers& missing) {
  const auto before = missing;
  const auto now = boot_now();
  auto result = servers.ask_present(command, now + (deadline - now) / 2, missing);
  if (result.code != status::unknown && result.code != status::unreachable) return result;
  missing = before;
  return servers.ask_present(command, deadline, missing);
}

// In a cluster a client receives messages only while it uses a slot. This object uses a slot for
// the time of a listing.
class inbox_slot final : private deployment::lock_requester {
 public:
  inbox_slot(deployment::deployment& servers, const protocol::client_identity& client)
      : servers_(servers), channel_(protocol::inbox_channel(client)), key_(channel_) {}
  ~inbox_slot() override {
    if (use_) servers_.unlisten(lock(), channel_);
  }
  inbox_slot(const inbox_slot&) = delete;
  inbox_slot& operator=(const inbox_slot&) = delete;

  outcome open(time_ns deadline, protocol::missing_servers& missing) {
    if (!servers_.has_slots()) return {};
    auto opened = ask_present(servers_, protocol::ping(), deadline, missing);
    // For a while after its start, a server may reply without serving a slot.
    auto unfit = missing;
    while (opened.ok() && !use_) {
      find_slot(unfit);
      opened = use(boot_now() + (deadline - boot_now()) / 2);
      const auto server = servers_.server_of(lock());
      if (opened.ok() || server.empty() || unfit.has(server) || boot_now() >= deadline) break;
      unfit.add(server, opened);
      opened = {};
    }
    return opened;
  }

 private:
  [[nodiscard]] deployment::named_key lock() const noexcept { return {channel_, key_}; }
  void find_slot(const protocol::missing_servers& unfit) {
    key_ = channel_;
    for (int i = 0; i < most_slots && unfit.has(servers_.server_of(lock())); ++i) {
      key_ = channel_ + std::to_string(i);
    }
  }
  outcome use(time_ns deadline) {
    auto use = servers_.new_request(*this, lock());
    auto reached = servers_.ask(lock(), protocol::ping(), deadline);
    if (!reached.ok()) return reached;
    servers_.listen(lock(), channel_);
    use_ = std::move(use);
    return reached;
  }
  // No request is ever sent with this lock_request.
  void on_result(deployment::lock_request& /*request*/,
                 const mortise::lock::step_result& /*result*/, time_ns /*now*/) noexcept override {}

  deployment::deployment& servers_;
  const std::string channel_;
  std::string key_;  // a key of the slot
  std::unique_ptr<deployment::lock_request> use_;
};

}  // namespace

// One listing in progress.
class listings::round {
 public:
  round(protocol::listing& target, std::int64_t database, gate_numbers only)
      : target_(target), database_(database), only_(std::move(only)) {}
  round(protocol::listing& target, std::int64_t database, protocol::history_terms terms,
        protocol::clock_reading clock)
      : target_(target), database_(database), history_(std::move(terms)), clock_(clock) {}

  // Identifies the replies to this listing.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

  // A live client, found at one of its servers.
  void add(protocol::client_inbox found) {
    const auto selected = only_.find(found.client);
    if (!only_.empty() && selected == only_.end()) return;
    auto& peer = all_.try_emplace(std::move(found.client)).first->second;
    peer.channel = std::move(found.channel);
    if (selected != only_.end()) peer.from = selected->second;
  }
  void take(protocol::listing_page page) {
    auto* const peer = awaited(page.client, page.from);
    if (peer == nullptr || history_) return;
    target_.entries.insert(target_.entries.end(), std::make_move_iterator(page.entries.begin()),
                           std::make_move_iterator(page.entries.end()));
    note_page(*peer, page.from, page.next);
  }
  void take(const protocol::history_page& page, time_ns now) {
    auto* const peer = awaited(page.client, page.from);
    if (peer == nullptr || !history_ || peer->first_asked_at == 0) return;
    auto events = protocol::events_of(page, clock_, peer->first_asked_at, now);
    // Before the first recorded event is the present state, which is not in its order.
    const bool goes_on = page.from >= protocol::history_page::events_from;
    peer->last = protocol::keep_order(goes_on ? peer->last : protocol::last_event{}, events);
    peer->events += events.size();
    // A client has no more events than its ring. The bound protects the memory of this process.
    peer->is_cut =
        peer->events > most_events_each || target_.events.size() + events.size() > most_events;
    if (!peer->is_cut) target_.events.insert(target_.events.end(), events.begin(), events.end());
    note_page(*peer, page.from, page.next);
    peer->is_over |= peer->is_cut;
  }
  [[nodiscard]] std::string request(std::uint64_t serial, std::uint64_t from,
                                    const std::string& asker) const {
    return protocol::write_request({number_, serial, from, asker, history_, database_});
  }
  [[nodiscard]] bool is_over() const {
    return std::all_of(all_.begin(), all_.end(),
                       [](const auto& one) { return one.second.is_over; });
  }
  // The channels of the clients to ask now, by the gate number at which they continue.
  std::map<std::uint64_t, std::vector<std::string>> next(time_ns now) {
    const auto is_awaited = [&](const auto& one) {
      return !one.second.is_over && one.second.asked_at > now - patience_ns;
    };
    auto room = most_awaited;
    room -= std::min(room,
                     static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(), is_awaited)));
    std::map<std::uint64_t, std::vector<std::string>> channels;
    // First the clients that were not asked yet.
    for (const bool is_first : {true, false}) {
      for (auto& one : all_) {
        auto& peer = one.second;
        if (room == 0 || peer.is_over || (peer.asked_at == 0) != is_first || is_awaited(one))
          continue;
        channels[peer.from].push_back(peer.channel);
        peer.asked_at = now;
        if (peer.first_asked_at == 0) peer.first_asked_at = now;
        --room;
      }
    }
    return channels;
  }
  void finish() {
    for (const auto& [id, peer] : all_) {
      if (peer.has_answered) ++target_.answered;
      if (peer.has_answered && (!peer.is_over || peer.is_cut)) ++target_.truncated;
      if (!peer.has_answered) target_.silent.push_back(id);
    }
    std::stable_sort(
        target_.events.begin(), target_.events.end(),
        [](const auto& one, const auto& other) { return one.time_us < other.time_us; });
  }

 private:
  struct party {
    std::string channel;
    std::uint64_t from = 0;  // gate number at which it continues
    time_ns asked_at = 0;
    time_ns first_asked_at = 0;  // for the page that is awaited; a repeated request may be late
    std::size_t events = 0;
    protocol::last_event last;
    bool has_answered = false;
    bool is_over = false;
    bool is_cut = false;  // it has sent too much
  };

  // The client, if it has not sent this page yet.
  party* awaited(const std::string& client, std::uint64_t from) {
    const auto known = all_.find(client);
    if (known == all_.end() || known->second.is_over || known->second.from != from) return nullptr;
    return &known->second;
  }
  void note_page(party& peer, std::uint64_t from, std::uint64_t next) {
    peer.has_answered = true;
    peer.is_over = next <= from || !only_.empty();
    peer.from = next;
    peer.asked_at = peer.first_asked_at = 0;
  }

  protocol::listing& target_;
  const std::int64_t database_;
  const gate_numbers only_;
  const std::optional<protocol::history_terms> history_;
  const protocol::clock_reading clock_;
  const std::uint64_t number_ = random_number();
  std::map<std::string, party> all_;
};

outcome listings::take(protocol::listing& target, time_ns deadline, const gate_numbers& only) {
  round taken(target, client_.servers().database_of({}), only);
  return run(taken, target.missing, deadline);
}

outcome listings::take_history(protocol::listing& target, time_ns deadline,
                               const protocol::history_terms& terms,
                               const protocol::clock_reading& clock) {
  round taken(target, client_.servers().database_of({terms.name, {}}), terms, clock);
  return run(taken, target.missing, deadline);
}

outcome listings::run(round& taken, protocol::missing_servers& missing, time_ns deadline) {
  {
    std::unique_lock guard(mutex_);
    while (present_ != nullptr && !is_closed_) {
      if (boot_now() >= deadline) {
        return outcome::because(status::busy, "another listing of this client is in progress");
      }
      changed_.wait_for(guard, until_look(deadline));
    }
    if (is_closed_) return client_freed();
    present_ = &taken;
  }
  const struct ending {
    listings& self;
    ~ending() {
      const std::lock_guard guard(self.mutex_);
      self.present_ = nullptr;
      self.changed_.notify_all();
    }
  } at_end{*this};

  inbox_slot listening(client_.servers(), {client_.id(), client_.key_prefix()});
  if (auto opened = listening.open(deadline, missing); !opened.ok()) return opened;
  const bool is_cluster = client_.servers().has_slots();
  const auto find = protocol::find_inboxes(is_cluster, client_.key_prefix(), [&](auto inboxes) {
    const std::lock_guard guard(mutex_);
    for (auto& one : inboxes) taken.add(std::move(one));
  });
  auto found = ask_present(client_.servers(), find, deadline, missing);
  if (!found.ok()) return found;
  auto result = ask_all(taken, missing, is_cluster, deadline);
  const std::lock_guard guard(mutex_);
  if (is_closed_) return client_freed();
  // A client that was not asked in time is silent.
  if (!result.ok() && boot_now() < deadline) return result;
  taken.finish();
  return {};
}

outcome listings::ask_all(round& taken, protocol::missing_servers& missing, bool is_cluster,
                          time_ns deadline) {
  auto serial = random_number();
  std::unique_lock guard(mutex_);
  while (!is_closed_ && !taken.is_over() && boot_now() < deadline) {
    const auto channels = taken.next(boot_now());
    if (channels.empty()) {
      changed_.wait_for(guard, until_look(deadline));
      continue;
    }
    guard.unlock();
    for (const auto& [from, group] : channels) {
      const auto text = taken.request(++serial, from, client_.id());
      const auto command = protocol::say_to_inboxes(is_cluster, group, text);
      auto result = ask_present(client_.servers(), command, deadline, missing);
      if (!result.ok()) return result;
    }
    guard.lock();
  }
  return {};
}

void listings::on_message(std::string_view text) noexcept try {
  const auto now = boot_now();
  auto page = protocol::read_page(text);
  const auto history = page ? std::nullopt : protocol::read_history(text);
  if (!page && !history) return;
  const std::lock_guard guard(mutex_);
  if (present_ == nullptr || present_->number() != (page ? page->round : history->round)) return;
  if (page) present_->take(std::move(*page));
  if (history) present_->take(*history, now);
  changed_.notify_all();
} catch (const std::bad_alloc&) {
  // The client is asked again.
}

void listings::close() noexcept {
  const std::lock_guard guard(mutex_);
  is_closed_ = true;
  changed_.notify_all();
}

}  // namespace mortise::client
