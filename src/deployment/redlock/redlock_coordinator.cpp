#include "deployment/redlock/redlock_coordinator.hpp"

#include <algorithm>
#include <new>
#include <set>
#include <utility>

#include "base/random.hpp"

namespace mortise::deployment {

namespace {

using lock::answer;
using lock::step_request;
using lock::step_result;
using quorum::is_grantable;
using quorum::is_release;
using quorum::is_take;

// The limit of unanswered requests for votes to one server: a fixed number, and a number for each
// lock in use.
constexpr std::size_t least_window = 64;
constexpr std::size_t window_of_each = 8;
// How often memory is freed, and acquisitions that ended without a release are dropped.
constexpr time_ns sweep_ns = 2 * ns_per_s;

// The names whose requests can be retried.
class due_names final : public name_set {
 public:
  [[nodiscard]] bool has(const named_key& lock) const noexcept override {
    return is_all_ || names_.find(lock.name) != names_.end();
  }
  void add(const std::string& name) noexcept try {
    names_.insert(name);
  } catch (const std::bad_alloc&) {
    is_all_ = true;
  }
  [[nodiscard]] bool is_empty() const noexcept { return !is_all_ && names_.empty(); }

 private:
  std::set<std::string, std::less<>> names_;
  bool is_all_ = false;
};

}  // namespace

// ---- requests -------------------------------------------------------------------------------

quorum_request::quorum_request(redlock_coordinator& coordinator, lock_requester& requester,
                               const named_key& lock)
    : coordinator_(coordinator), requester_(requester), lock_(lock.name) {
  coordinator_.requests_.fetch_add(1, std::memory_order_relaxed);
}

quorum_request::~quorum_request() { coordinator_.forget(*this); }

status quorum_request::send(const step_request& request, const protocol::table& rules,
                            const protocol::key_set& keys,
                            const lock::operation* operation) noexcept try {
  if (!keys_) keys_ = std::make_shared<const protocol::key_set>(keys);
  return coordinator_.ask(*this, request, rules,
                          operation != nullptr && !operation->awaits_answer ? operation : nullptr);
} catch (const std::bad_alloc&) {
  return status::no_memory;
}

redlock_coordinator::redlock_coordinator(const server_group& servers, std::size_t count,
                                         net::reactor& loop, listener& receiver)
    : servers_(servers),
      loop_(loop),
      listener_(receiver),
      voters_(count, random_number()),
      states_(count) {}

redlock_coordinator::~redlock_coordinator() { close(); }

void redlock_coordinator::forget(const quorum_request& request) noexcept {
  requests_.fetch_sub(1, std::memory_order_relaxed);
  const lock_type lock(mutex_);
  if (request.round_ != nullptr) request.round_->requester = nullptr;
}

void redlock_coordinator::note_token(std::int64_t token) noexcept {
  const lock_type lock(mutex_);
  voters_.note_own(token);
}

status redlock_coordinator::ask(quorum_request& requester, const step_request& request,
                                const protocol::table& rules, const lock::operation* operation) {
  const lock_type lock(mutex_);
  const auto now = boot_now();
  plan_sweep(now);
  auto known = owners_.find(request.token);
  if (known == owners_.end()) {
    quorum_owner owner{requester.lock_, &rules, requester.keys_, quorum::acquisition(voters_)};
    known = owners_.emplace(request.token, std::move(owner)).first;
  }
  auto& owner = known->second;
  auto own_request = request;
  own_request.token = known->first;
  if (!start(owner, owner.acquisition.begin(own_request, now), requester, operation)) {
    // The votes of the servers that were reached are released, and those of the rest later.
    send(owner, owner.acquisition.on_unreachable(own_request, now), now);
    return status::unreachable;
  }
  // An unreachable server may have a vote of this client, also one without a reply so far.
  if (is_release(request.what)) {
    for (std::size_t server = 0; server < states_.size(); ++server) {
      if (owner.acquisition.lacks_release(server)) deliver_later(server, now);
    }
  }
  return status::ok;
}

// Sends a round to the servers. Returns false if too few can be reached for a quorum. A server with
// many unanswered requests for votes gets no further one until it replies. A quorum of the others
// decides, and its pending releases stay bounded. A release goes to the servers with a request, or
// to all if these are unknown.
bool redlock_coordinator::start(quorum_owner& owner, quorum::round& progress,
                                quorum_request& requester, const lock::operation* operation) try {
  auto& round = rounds_.take([this] { return std::make_unique<quorum_round>(servers_, *this); });
  round.owner = &owner;
  round.progress = &progress;
  round.requester = nullptr;
  const auto what = progress.request.what;
  const auto window = least_window + window_of_each * requests_.load(std::memory_order_relaxed);
  bool is_possible = true;
  for (std::size_t server = 0; server < states_.size(); ++server) {
    const bool is_full = is_grantable(what) && states_[server].takes >= window;
    const auto sent = !is_full && owner.acquisition.is_recipient(server, what)
                          ? round.send(server, progress.request, operation)
                          : status::unreachable;
    if (sent != status::ok) {
      if (quorum::acquisition::on_unsent(progress, server, sent)) is_possible = false;
      continue;
    }
    owner.acquisition.on_sent(server, what);
    if (is_grantable(what)) ++states_[server].takes;
  }
  end_if_over(round);
  if (!is_possible) return false;
  round.requester = &requester;
  requester.round_ = &round;
  return true;
} catch (const std::bad_alloc&) {
  owner.acquisition.end(progress);
  throw;
}

void redlock_coordinator::end_if_over(quorum_round& round) noexcept {
  if (!round.progress->votes.is_answered()) return;
  round.owner->acquisition.end(*round.progress);
  rounds_.put(round);
}

// ---- replies --------------------------------------------------------------------------------

void quorum_round::recipient::on_result(lock_request& /*request*/, const step_result& reply,
                                        time_ns now) noexcept {
  round->coordinator_.on_reply(*round, server, reply, now);
}

void background_request::on_result(lock_request& /*request*/, const step_result& reply,
                                   time_ns now) noexcept {
  coordinator_.on_background_reply(*this, reply, now);
}

void redlock_coordinator::on_reply(quorum_round& round, std::size_t server,
                                   const step_result& reply, time_ns now) noexcept {
  lock_type lock(mutex_);
  // A repeated reply is one vote.
  if (!rounds_.is_used(round) || round.progress->votes.has_answered(server)) return;
  auto& owner = *round.owner;
  const auto request = round.progress->request;
  if (reply.what == answer::no_script && owner.acquisition.is_current(request)) {
    const auto repeated = owner.acquisition.with_text(request, now);
    if (round.send(server, repeated, nullptr) == status::ok) return;
  }
  if (is_grantable(request.what)) --states_[server].takes;
  auto next = owner.acquisition.on_reply(*round.progress, server, reply, now);
  plan_timer(next.timeout_at);
  note_release(owner, server, request.what, reply, now);
  const auto result = perform(round, std::move(next), now);
  end_if_over(round);
  drop_if_over(request.token);
  complete(lock, round, result, now);
}

// Does what follows an event. Returns the result for the requester, if there is one.
std::optional<step_result> redlock_coordinator::perform(quorum_round& round, quorum::action next,
                                                        time_ns now) noexcept {
  auto& owner = *round.owner;
  if (next.is_proposal) {
    if (propose(round, next.request)) return std::nullopt;
    next = owner.acquisition.refuse(*round.progress, *std::move(next.result), now);
  }
  send(owner, next, now);
  return std::move(next.result);
}

bool redlock_coordinator::propose(quorum_round& round, const step_request& proposal) noexcept try {
  if (round.requester == nullptr) return false;
  auto& owner = *round.owner;
  if (!start(owner, owner.acquisition.propose(proposal), *round.requester, nullptr)) return false;
  round.requester = nullptr;
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// A server without a reply gets the release after its request. An unreachable server gets it after
// the reconnect.
void redlock_coordinator::send(quorum_owner& owner, const quorum::action& next,
                               time_ns now) noexcept {
  for (std::size_t server = 0; server < states_.size(); ++server) {
    if (!next.servers.test(server)) continue;
    const auto sent = send_in_background(server, next.request, owner, false, now);
    const bool is_missing = sent != status::ok && sent != status::unreachable;
    if (is_missing && is_release(next.request.what)) deliver_later(server, now);
  }
  retries_at_ = std::min(retries_at_, owner.acquisition.retry_at());
  plan_timer(owner.acquisition.retry_at());
}

void redlock_coordinator::complete(lock_type& lock, quorum_round& round,
                                   const std::optional<step_result>& result, time_ns now) noexcept {
  if (!result || round.requester == nullptr) return;
  auto* const request = std::exchange(round.requester, nullptr);
  request->round_ = nullptr;
  lock.unlock();
  request->requester_.on_result(*request, *result, now);
}

void redlock_coordinator::on_forced(std::string_view token, time_ns now) noexcept {
  const lock_type lock(mutex_);
  const auto known = owners_.find(token);
  if (known != owners_.end()) known->second.acquisition.on_forced(now);
}

void redlock_coordinator::drop_if_over(std::string_view token) noexcept {
  const auto known = owners_.find(token);
  if (known != owners_.end() && known->second.acquisition.is_over()) owners_.erase(known);
}

// ---- in the background ----------------------------------------------------------------------

// Only this code releases these votes before their leases end. A release that a server has no room
// for stays pending. Only the end of the lease, or a permanent rejection, ends it.
void redlock_coordinator::deliver(std::size_t server, time_ns now) noexcept {
  auto& releases = states_[server].releases;
  if (!releases.is_due(now)) return;
  bool is_any = false;
  for (auto& [token, owner] : owners_) {
    if (!owner.acquisition.lacks_release(server)) continue;
    if (releases.is_full()) return;  // the last reply sends the next batch
    const auto sent = send_in_background(server, owner.acquisition.release(), owner, true, now);
    if (sent == status::unreachable) return releases.end();
    if (sent != status::ok) return deliver_later(server, now);
    releases.note_sent();
    is_any = true;
  }
  if (!is_any) releases.end();
}

void redlock_coordinator::deliver_later(std::size_t server, time_ns now) noexcept {
  auto& releases = states_[server].releases;
  releases.postpone(now, voters_.random());
  plan_timer(releases.due_at());
}

// A server that has not carried out a release gets another one. After a broken connection the
// release follows the reconnect.
void redlock_coordinator::note_release(const quorum_owner& owner, std::size_t server,
                                       lock::step what, const step_result& reply,
                                       time_ns now) noexcept {
  const bool is_cut = reply.what == answer::broken || reply.what == answer::unsent;
  if (is_release(what) && !is_cut && owner.acquisition.lacks_release(server))
    deliver_later(server, now);
}

status redlock_coordinator::send_in_background(std::size_t server, const step_request& request,
                                               quorum_owner& owner, bool is_of_batch,
                                               time_ns now) noexcept try {
  auto& state = states_[server];
  auto& item = state.background_requests.take(
      [&] { return std::make_unique<background_request>(servers_.at(server), server, *this); });
  const auto sent = item.send(request, *owner.rules, owner.keys, now);
  if (sent != status::ok) {
    state.background_requests.put(item);
    return sent;
  }
  item.is_of_batch = is_of_batch;
  owner.acquisition.on_sent(server, request.what);
  if (is_take(request.what)) ++state.takes;
  return status::ok;
} catch (const std::bad_alloc&) {
  return status::no_memory;
}

void redlock_coordinator::on_background_reply(background_request& sent, const step_result& reply,
                                              time_ns now) noexcept {
  const lock_type lock(mutex_);
  const auto server = sent.server();
  auto& state = states_[server];
  // A repeated reply counts once.
  if (!state.background_requests.is_used(sent)) return;
  const auto& request = sent.request();
  const auto known = owners_.find(request.token);
  auto* const owner = known == owners_.end() ? nullptr : &known->second;
  const bool is_current =
      owner == nullptr ? !is_take(request.what) : owner->acquisition.is_current(request);
  if (reply.what == answer::no_script && is_current) {
    const auto repeated = owner == nullptr ? request : owner->acquisition.with_text(request, now);
    if (sent.send_text(repeated.ttl_ms, now)) return;
  }
  if (reply.what == answer::not_free) voters_.note_token(server, reply.last_token);
  if (is_take(request.what)) --state.takes;
  if (owner != nullptr) {
    owner->acquisition.on_background_reply(server, request, reply);
    note_release(*owner, server, request.what, reply, now);
    drop_if_over(request.token);
  }
  state.background_requests.put(sent);
  if (!std::exchange(sent.is_of_batch, false)) return;
  state.releases.note_answered();
  deliver(server, now);
  plan_timer(state.releases.due_at());
}

// ---- time -----------------------------------------------------------------------------------

void redlock_coordinator::on_server_up(std::size_t server, time_ns now) noexcept {
  const lock_type lock(mutex_);
  states_[server].releases.begin();
  deliver(server, now);
}

void redlock_coordinator::plan_timer(time_ns at) noexcept {
  if (at >= timer_at_) return;
  timer_at_ = at;
  loop_.schedule(*this, at);
}

void redlock_coordinator::on_timer(time_ns now) noexcept {
  lock_type lock(mutex_);
  timer_at_ = time_never;
  end_patience(lock, now);
  for (std::size_t server = 0; server < states_.size(); ++server) {
    deliver(server, now);
    plan_timer(states_[server].releases.due_at());
  }
  sweep(now);
  report_due_retries(lock, now);
}

void redlock_coordinator::plan_sweep(time_ns now) noexcept {
  if (sweep_at_ != time_never) return;
  sweep_at_ = now + sweep_ns;
  plan_timer(sweep_at_);
}

// Also drops acquisitions that ended without a release, such as a lost hold.
void redlock_coordinator::sweep(time_ns now) noexcept {
  if (now < sweep_at_) return plan_timer(sweep_at_);
  sweep_at_ = time_never;
  for (auto item = owners_.begin(); item != owners_.end();) {
    item = item->second.acquisition.is_lapsed(now) ? owners_.erase(item) : std::next(item);
  }
  rounds_.trim();
  bool is_any = !owners_.empty() || rounds_.size() > 0;
  for (auto& state : states_) {
    state.background_requests.trim();
    is_any = is_any || state.background_requests.size() > 0;
  }
  if (is_any) plan_sweep(now);
}

// Rounds may be added and change places while a result is reported.
void redlock_coordinator::end_patience(lock_type& lock, time_ns now) noexcept {
  for (std::size_t place = 0; place < rounds_.used();) {
    auto& round = rounds_.at(place++);
    if (round.requester == nullptr) continue;
    auto& acquisition = round.owner->acquisition;
    if (const auto at = acquisition.timeout_at(*round.progress); at > now) {
      plan_timer(at);
      continue;
    }
    complete(lock, round, perform(round, acquisition.on_timeout(*round.progress, now), now), now);
    if (lock.owns_lock()) continue;
    lock.lock();
    place = 0;
  }
}

void redlock_coordinator::report_due_retries(lock_type& lock, time_ns now) noexcept {
  if (now < retries_at_) return plan_timer(retries_at_);
  retries_at_ = time_never;
  due_names due;
  for (auto item = owners_.begin(); item != owners_.end();) {
    auto& acquisition = item->second.acquisition;
    const bool is_due = acquisition.retry_at() <= now;
    if (is_due) {
      acquisition.end_retry();
      due.add(item->second.lock);
    }
    retries_at_ = std::min(retries_at_, acquisition.retry_at());
    item = is_due && acquisition.is_over() ? owners_.erase(item) : std::next(item);
  }
  plan_timer(retries_at_);
  lock.unlock();
  if (!due.is_empty()) listener_.on_retry_due(due, now);
}

}  // namespace mortise::deployment
