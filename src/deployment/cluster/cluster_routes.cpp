#include "deployment/cluster/cluster_routes.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "base/random.hpp"
#include "base/text/decimal.hpp"
#include "deployment/cluster/slot_attachment.hpp"
#include "deployment/requests/topology_request.hpp"
#include "deployment/requests/unheeded_request.hpp"
#include "net/dial/at_once.hpp"
#include "protocol/native/inbox.hpp"
#include "redis/resp/command.hpp"

namespace mortise::deployment {

namespace {

// The delay of a retry after a lack of memory.
constexpr time_ns put_off_ns = 50 * ns_per_ms;
// How long a reply may be missing: a third of the command timeout, but at most half a second.
constexpr time_ns longest_patience_ns = ns_per_s / 2;
// How long a slot counts as moving after a server has reported the move.
constexpr time_ns moving_ns = 2 * ns_per_s;

outcome closed() { return outcome::of(status::closed, "the client was closed"); }

// Whether the problem needs a remedy.
bool is_definite(const outcome& problem) noexcept {
  return !problem.ok() && problem.code != status::unreachable && !problem.is_retryable;
}

}  // namespace

class cluster_routes::slot_names final : public name_set {
 public:
  explicit slot_names(const cluster::slot_set& slots) : slots_(slots) {}
  [[nodiscard]] bool has(const named_key& lock) const noexcept override {
    return slots_[static_cast<std::size_t>(cluster::slot_of(lock.key))];
  }
  [[nodiscard]] const cluster::slot_set* slots() const noexcept override { return &slots_; }

 private:
  const cluster::slot_set& slots_;
};

cluster_routes::cluster_routes(net::reactor& loop, config_maker make_config, const settings& terms,
                               std::string_view client_id, mortise::deployment::listener& events)
    : loop_(loop),
      make_config_(std::move(make_config)),
      terms_(terms),
      map_(std::make_shared<const address_map>(terms.address_map)),
      client_{std::string(client_id), terms.key_prefix()},
      inbox_(protocol::inbox_channel(client_)),
      listener_(events),
      router_(*this, std::min(terms.command_timeout_ms * ns_per_ms / 3, longest_patience_ns)) {}

cluster_routes::~cluster_routes() { close(0); }

// Runs `step(router, now)` under the mutex. A lack of memory leads to a retry.
template <class Step>
void cluster_routes::enter(Step&& step) noexcept {
  {
    const std::lock_guard guard(mutex_);
    if (is_closed_) return;
    const auto now = boot_now();
    try {
      step(router_, now);
      plan();
    } catch (const std::bad_alloc&) {
      loop_.schedule(*this, armed_for_ = now + put_off_ns);
    }
    if (!events_.is_empty()) loop_.post(*this);
  }
  changed_.notify_all();
}

void cluster_routes::plan() noexcept {
  const auto next = router_.next_timer();
  if (next >= armed_for_) return;
  armed_for_ = next;
  loop_.schedule(*this, next);
}

void cluster_routes::on_timer(time_ns now) noexcept {
  enter([&](cluster::router& router, time_ns) {
    armed_for_ = time_never;
    router.on_timer(now);
  });
}

// Reports the events without the mutex. Acknowledgements by the replicas of one server do not apply
// to the next server (hazard 7). They end first, because on_up() leads to new requests.
void cluster_routes::run() noexcept {
  slot_events events;
  {
    const std::lock_guard guard(mutex_);
    std::swap(events, events_);
  }
  const auto now = boot_now();
  if (events.moved.any()) listener_.on_unacknowledged(slot_names(events.moved), now);
  if (events.unopened.any()) report_unopened(events);
  while (auto* const item = events.dropped.pop()) item->drop();
  if (events.up.any()) listener_.on_up(slot_names(events.up), now);
}

void cluster_routes::report_unopened(const slot_events& events) noexcept {
  for (std::size_t i = 0; i < events.unopened.size(); ++i) {
    if (!events.unopened.test(i)) continue;
    cluster_server* server = nullptr;
    {
      const std::lock_guard guard(mutex_);
      server = servers_[i].get();
    }
    on_server_down(*server, server->problem());
  }
}

// ---- opening and closing --------------------------------------------------------------------

void cluster_routes::begin(const std::vector<cluster::endpoint>& seeds) {
  const std::lock_guard guard(mutex_);
  router_.begin(seeds, boot_now());
  plan();
}

outcome cluster_routes::await_known(time_ns deadline) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (is_closed_) return closed();
    if (router_.is_known()) return {};
    const auto definite = std::count_if(servers_.begin(), servers_.end(), [](const auto& server) {
      return is_definite(server->problem());
    });
    const bool is_hopeless = static_cast<std::size_t>(definite) == servers_.size();
    const auto left = deadline - boot_now();
    if (is_definite(router_.problem()) || is_hopeless || left <= 0) return why_unknown();
    changed_.wait_for(lock, std::chrono::nanoseconds(std::min(left, put_off_ns)));
  }
}

void cluster_routes::close(time_ns linger_ns) noexcept {
  {
    const std::lock_guard guard(mutex_);
    if (std::exchange(is_closed_, true)) return;
    for (auto& [number, slot] : slots_) on_detached(number);
  }
  net::at_once(servers_.size(), [&](std::size_t i) { servers_[i]->close(linger_ns); });
  loop_.cancel(static_cast<net::timer&>(*this));
  loop_.cancel(static_cast<net::task&>(*this));
  {
    const std::lock_guard guard(mutex_);
    events_.unopened.reset();
    events_.up.reset();
  }
  run();
  changed_.notify_all();
}

// ---- slots in use ---------------------------------------------------------------------------

cluster_slot& cluster_routes::use(int number) {
  const std::lock_guard guard(mutex_);
  auto known = slots_.find(number);
  if (known == slots_.end()) {
    known = slots_.emplace(number, std::make_unique<cluster_slot>(number, client_)).first;
  }
  if (!is_closed_) {
    router_.use(number, boot_now());
    plan();
  }
  return *known->second;
}

void cluster_routes::stop_using(cluster_slot& slot) noexcept {
  const std::lock_guard guard(mutex_);
  router_.stop_using(slot.number);
}

cluster_slot* cluster_routes::find(int number) noexcept {
  const std::lock_guard guard(mutex_);
  const auto known = slots_.find(number);
  return known == slots_.end() ? nullptr : known->second.get();
}

status cluster_routes::wait(cluster_request& request, cluster_slot& slot) noexcept {
  const std::lock_guard guard(mutex_);
  if (auto* const server = slot.server.load(std::memory_order_relaxed)) {
    const auto sent = request.send_on(*server);  // it was attached just now
    slot.has_failed_request = slot.has_failed_request || sent == status::unreachable;
    return sent;
  }
  if (!is_closed_ && router_.phase_of(slot.number) == cluster::router::phase::attaching) {
    slot.waiting.push(request);
    return status::ok;
  }
  slot.has_failed_request = true;
  return status::unreachable;
}

void cluster_routes::await_change(time_ns deadline) {
  std::unique_lock lock(mutex_);
  const auto left = std::clamp<time_ns>(deadline - boot_now(), 0, put_off_ns);
  changed_.wait_for(lock, std::chrono::nanoseconds(left));
}

cluster_server* cluster_routes::await_server(cluster_slot& slot, time_ns deadline) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (auto* const server = slot.server.load(std::memory_order_relaxed)) return server;
    const auto left = deadline - boot_now();
    if (is_closed_ || left <= 0) return nullptr;
    changed_.wait_for(lock, std::chrono::nanoseconds(std::min(left, put_off_ns)));
  }
}

void cluster_routes::on_request_failed(cluster_slot& slot) noexcept {
  enter([&](cluster::router&, time_ns) {
    slot.has_failed_request = true;
    note_up(slot);
  });
}

// Requests that failed can be sent again, if the slot is attached.
void cluster_routes::note_up(cluster_slot& slot) noexcept {
  if (!slot.has_failed_request || slot.server.load(std::memory_order_relaxed) == nullptr) return;
  events_.up.set(static_cast<std::size_t>(slot.number));
  slot.has_failed_request = false;
}

void cluster_routes::on_moved(cluster_slot& slot, cluster_server& source,
                              const cluster::endpoint& target) noexcept {
  enter([&](cluster::router& router, time_ns now) {
    router.on_moved(slot.number, source.number(), target, now);
  });
}

void cluster_routes::on_unserved(cluster_slot& slot, cluster_server& source) noexcept {
  enter([&](cluster::router& router, time_ns now) {
    router.on_unserved(slot.number, source.number(), now);
  });
}

void cluster_routes::on_migrating(cluster_slot& slot) noexcept {
  enter([&](cluster::router& router, time_ns now) {
    slot.has_failed_request = true;
    slot.moving_until.store(now + moving_ns, std::memory_order_relaxed);
    router.on_migrating(slot.number, now);
  });
}

bool cluster_routes::send_asking(cluster_request& request,
                                 const cluster::endpoint& target) noexcept {
  bool is_sent = false;
  enter([&](cluster::router& router, time_ns now) {
    const auto server = router.number_of(target, now);
    if (server == cluster::no_server) return;
    router.connect(server);
    is_sent = request.send_asking(server_at(server)) == status::ok;
  });
  return is_sent;
}

void cluster_routes::expect_messages(cluster_slot& slot, int change) noexcept {
  const std::lock_guard guard(mutex_);
  slot.message_waiters += change;
  auto* const server = slot.server.load(std::memory_order_relaxed);
  if (server != nullptr) server->connection().commands().expect_messages(change);
}

// Redisson's clients publish by SPUBLISH, or by PUBLISH in older versions.
void cluster_routes::listen(cluster_slot& slot, std::string_view channel) {
  const std::lock_guard guard(mutex_);
  slot.channels.emplace(channel);
  if (auto* const server = slot.server.load(std::memory_order_relaxed)) subscribe(*server, channel);
}

void cluster_routes::subscribe(cluster_server& server, std::string_view channel) {
  std::string bytes;
  redis::command_writer(bytes).command({"SSUBSCRIBE", channel});
  unheeded_request::send(server, bytes, true);
  server.connection().listen(channel);
}

void cluster_routes::unlisten(cluster_slot& slot, std::string_view channel) noexcept {
  const std::lock_guard guard(mutex_);
  const auto known = slot.channels.find(channel);
  if (known == slot.channels.end()) return;
  slot.channels.erase(known);
  if (auto* const server = slot.server.load(std::memory_order_relaxed))
    server->connection().unlisten(channel);
}

// ---- queries --------------------------------------------------------------------------------

outcome cluster_routes::problem(int slot) const {
  const std::lock_guard guard(mutex_);
  if (is_closed_) return closed();
  if (!router_.is_known()) return why_unknown();
  auto result = router_.problem(slot);
  const auto server = router_.server_of(slot);
  if (result.ok() || server == cluster::no_server) return result;
  // The server may be connected but not admitted.
  auto own = server_at(server).problem();
  return is_definite(own) ? own : result;
}

// A problem that needs a remedy is more useful than an unreachable server.
outcome cluster_routes::why_unknown() const {
  for (const auto& server : servers_) {
    auto problem = server->problem();
    if (is_definite(problem)) return problem;
  }
  return router_.problem();
}

cluster_server* cluster_routes::owner_of(int slot) const {
  const std::lock_guard guard(mutex_);
  const auto server = router_.owner_of(slot);
  return server == cluster::no_server ? nullptr : &server_at(server);
}

std::vector<cluster_server*> cluster_routes::masters() const {
  const std::lock_guard guard(mutex_);
  std::vector<cluster_server*> found;
  for (const auto number : router_.masters()) found.push_back(&server_at(number));
  return found;
}

std::vector<cluster_server*> cluster_routes::servers() const {
  const std::lock_guard guard(mutex_);
  std::vector<cluster_server*> found;
  found.reserve(servers_.size());
  for (const auto& one : servers_) found.push_back(one.get());
  return found;
}

void cluster_routes::connect_to(cluster_server& server) noexcept {
  enter([&](cluster::router& router, time_ns) { router.connect(server.number()); });
}

void cluster_routes::log_in_with(redis::login with) noexcept {
  const std::lock_guard guard(mutex_);
  login_ = std::move(with);
}

void cluster_routes::send_to_each(std::string_view bytes) {
  const std::lock_guard guard(mutex_);
  for (const auto& one : servers_) unheeded_request::send(*one, bytes);
}

void cluster_routes::send_for_each_slot(
    const std::function<void(std::string& out, std::string_view place)>& write,
    bool includes_unused) {
  const std::lock_guard guard(mutex_);
  for (const auto& [number, slot] : slots_) {
    auto* const server = slot->server.load(std::memory_order_relaxed);
    if (server == nullptr || (!includes_unused && !router_.is_used(number))) continue;
    std::string bytes;
    write(bytes, slot->place);
    unheeded_request::send(*server, bytes);
  }
}

// ---- for the router -------------------------------------------------------------------------

void cluster_routes::add_server(int server, const cluster::endpoint& where) {
  servers_.reserve(servers_.size() + 1);
  cluster_server::listener& me = *this;
  auto place = std::make_shared<server_place>(where, map_);
  auto config = make_config_(place);
  if (login_) config.identity->replace(*login_);
  servers_.push_back(std::make_unique<cluster_server>(loop_, server, std::move(place),
                                                      std::move(config), terms_, client_.id,
                                                      listener_.helper(), me));
}

// The object stays, because threads may still refer to it. They would send to the wrong server,
// which rejects the request.
void cluster_routes::change_server(int server, const cluster::endpoint& where) {
  server_at(server).change(where);
  events_.unopened.reset(static_cast<std::size_t>(server));
}

void cluster_routes::connect(int server) noexcept {
  if (server_at(server).begin().ok()) return;
  events_.unopened.set(static_cast<std::size_t>(server));
  loop_.post(*this);
}

void cluster_routes::leave(int server, const char* why) noexcept {
  auto reason = outcome::of(status::unreachable, why);
  reason.is_retryable = true;
  server_at(server).connection().commands().break_off(std::move(reason));
}

bool cluster_routes::attach(int slot, int server, std::uint64_t attempt) noexcept try {
  return slot_attachment::send(*this, server_at(server), *slots_.at(slot), client_, attempt);
} catch (const std::bad_alloc&) {
  return false;
}

bool cluster_routes::ask_topology(int server) noexcept try {
  return topology_request::send(*this, server_at(server));
} catch (const std::bad_alloc&) {
  return false;
}

// Queued requests go first, in their order. Requesters that were rejected before are notified now.
void cluster_routes::on_attached(int number, int server) noexcept {
  auto& slot = *slots_.at(number);
  auto& owner = server_at(server);
  slot.server.store(&owner, std::memory_order_release);
  slot.is_attached = true;
  note_move(number, slot.last_address, owner);
  owner.connection().commands().expect_messages(slot.message_waiters);
  while (auto* const item = slot.waiting.pop()) {
    if (item->send_on(owner) != status::ok) events_.dropped.push(*item);
  }
  try {
    for (const auto& channel : slot.channels) subscribe(owner, channel);
    note_up(slot);
  } catch (const std::bad_alloc&) {
    // Messages would be lost without the subscription, so the connection starts again.
    owner.connection().commands().break_off(
        outcome::of(status::no_memory, "no memory for a subscription"));
  }
}

void cluster_routes::note_move(int slot, cluster::endpoint& last,
                               const cluster_server& owner) noexcept try {
  const auto before = std::exchange(last, owner.where());
  if (before.port == 0 || before == last) return;
  outcome moved;
  moved.say("slot ", decimal(slot), " moved from ", before.text(), " to ", last.text());
  listener_.on_note(log_subject::redirected, moved);
} catch (const std::bad_alloc&) {
  return;  // no memory for the text
}

void cluster_routes::on_detached(int number) noexcept {
  auto& slot = *slots_.at(number);
  slot.has_failed_request = true;
  if (auto* const owner = slot.server.exchange(nullptr)) {
    owner->connection().commands().expect_messages(-slot.message_waiters);
    for (const auto& channel : slot.channels) owner->connection().unlisten(channel);
  }
  while (auto* const item = slot.waiting.pop()) events_.dropped.push(*item);
}

void cluster_routes::on_repeat(int number) { note_up(*slots_.at(number)); }

void cluster_routes::on_owner_changed(int number) noexcept {
  if (!acknowledgements::is_needed(terms_)) return;
  events_.moved.set(static_cast<std::size_t>(number));
}

std::int64_t cluster_routes::random_below(std::int64_t bound) noexcept {
  return bound <= 0
             ? 0
             : static_cast<std::int64_t>(random_number() % static_cast<std::uint64_t>(bound));
}

// ---- from the servers -----------------------------------------------------------------------

void cluster_routes::on_server_up(cluster_server& server) noexcept {
  enter([&](cluster::router& router, time_ns now) { router.on_up(server.number(), now); });
}

void cluster_routes::on_server_replaced(cluster_server& server) noexcept {
  enter([&](cluster::router& router, time_ns) { router.on_new_run(server.number()); });
}

void cluster_routes::on_server_down(cluster_server& server, const outcome& why) noexcept {
  enter([&](cluster::router& router, time_ns now) { router.on_down(server.number(), why, now); });
}

void cluster_routes::on_server_overdue(cluster_server& server) noexcept {
  enter([&](cluster::router& router, time_ns now) { router.on_overdue(server.number(), now); });
}

void cluster_routes::on_server_push(std::string_view channel, std::string_view payload,
                                    time_ns now) noexcept {
  if (channel.starts_with(inbox_)) return listener_.on_message(payload, now);
  listener_.on_channel_message(channel);
}

void cluster_routes::on_server_unsubscribed(cluster_server& server,
                                            std::string_view channel) noexcept {
  const auto slot = cluster::slot_of(channel);
  enter([&](cluster::router& router, time_ns now) {
    router.on_unsubscribed(slot, server.number(), now);
  });
}

void cluster_routes::on_attachment(int slot, int server, std::uint64_t attempt,
                                   const cluster::attachment& result) noexcept {
  enter([&](cluster::router& router, time_ns now) {
    if (result.code == cluster::attachment::end::attached) {
      server_at(server).entry().on_fence_lifted(cluster::tag_of(slot), result.sent_ns);
    }
    router.on_attachment(slot, server, attempt, result, now);
  });
}

void cluster_routes::on_topology(int server,
                                 const std::vector<cluster::slot_range>& ranges) noexcept {
  enter([&](cluster::router& router, time_ns now) {
    router.on_topology(server, ranges, now);
    for (const auto master : router.masters()) {
      server_at(master).entry().look_at(cluster::tag_of(router.first_slot_of(master)));
    }
  });
}

void cluster_routes::on_no_topology(int server, const outcome& why) noexcept {
  enter([&](cluster::router& router, time_ns now) { router.on_no_topology(server, why, now); });
}

}  // namespace mortise::deployment
