#include "deployment/redlock/redlock_coordinator.hpp"

#include <algorithm>
#include <new>
#include <set>
#include <utility>

#include "base/random.hpp"
#include "lock/amount.hpp"

namespace mortise::deployment {

namespace {

using lock::answer;
using lock::step;
using lock::step_request;
using lock::step_result;
using quorum::is_release;
using quorum::is_take;

// The number of proposals of one request before it fails.
constexpr int most_proposals = 5;
// How long a round waits for missing replies after the first one: a twentieth of the lease, within
// these bounds. With slow servers it waits twice the recent reply time of a quorum. This is at most
// a quarter of the lease, and at most slow_patience_ns.
constexpr time_ns least_patience_ns = 5 * ns_per_ms;
constexpr time_ns most_patience_ns = 250 * ns_per_ms;
constexpr time_ns slow_patience_ns = 2 * ns_per_s;
// The longest pause between two requests of a waiter. A late release message can be taken for the
// next one. The next message then comes too early to be acted on, or too late (hazard 24).
constexpr time_ns longest_look_ns = 2 * ns_per_s;
// The longest pause of a waiting writer, so that readers are held back. WRITER_LIFE in the scripts
// is three times as long.
constexpr time_ns writer_look_ns = ns_per_s;
// The first delay of a retry after too few replies. It doubles with each failure, up to a ninth of
// the lease. So at least three tries of a renewal fit before its margin (hazard 18). A waiter sends
// as often as without failures.
constexpr time_ns retry_ns = 50 * ns_per_ms;
constexpr std::int64_t tries_in_a_lease = 9;
// Retries that are due at nearly the same time are reported together.
constexpr time_ns retry_grain_ns = 10 * ns_per_ms;
// The limit of unanswered requests for votes to one server: a fixed number, and a number for each
// lock in use.
constexpr std::size_t least_window = 64;
constexpr std::size_t window_of_each = 8;
// How often memory is freed, and acquisitions that ended without a release are dropped.
constexpr time_ns sweep_ns = 2 * ns_per_s;

// `reacquire` is also a round like the first. A repeated request to one server is a top-up.
bool is_by_who_waits(step what) noexcept {
  return what == step::acquire || what == step::reacquire;
}
bool is_waiting_writer(const step_request& request) noexcept {
  return request.what == step::acquire && request.permits == lock::exclusive_permits;
}

// Whether nothing is left to do or to remember.
bool is_over(const acquisition& about) noexcept {
  return !about.is_kept && about.rounds == 0 && about.retry_at == time_never &&
         about.votes.is_empty();
}

bool is_unanswered(const step_result& reply) noexcept {
  return reply.what == answer::broken || reply.what == answer::unsent;
}

// The result of a server whose clock is wrong.
step_result unusable() noexcept {
  step_result result;
  result.what = answer::refused;
  result.is_passing = true;
  return result;
}

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

quorum_request::quorum_request(redlock_coordinator& all, lock_requester& requester,
                               const named_key& lock)
    : all_(all), asker_(requester), name_(lock.name) {
  all_.requests_.fetch_add(1, std::memory_order_relaxed);
}

quorum_request::~quorum_request() { all_.forget(*this); }

status quorum_request::send(const step_request& request, const protocol::table& rules,
                            const protocol::key_set& keys,
                            const lock::operation* operation) noexcept try {
  if (!keys_) keys_ = std::make_shared<const protocol::key_set>(keys);
  return all_.ask(*this, request, rules,
                  operation != nullptr && !operation->awaits_answer ? operation : nullptr);
} catch (const std::bad_alloc&) {
  return status::no_memory;
}

redlock_coordinator::redlock_coordinator(const server_group& servers, std::size_t count,
                                         net::reactor& loop, listener& hears)
    : servers_(servers),
      loop_(loop),
      hears_(hears),
      proposals_(count),
      times_(count),
      states_(count),
      chance_(random_number() | 1U) {}

redlock_coordinator::~redlock_coordinator() { close(); }

void redlock_coordinator::forget(const quorum_request& request) noexcept {
  requests_.fetch_sub(1, std::memory_order_relaxed);
  const lock_type lock(mutex_);
  if (request.round_ != nullptr) request.round_->of = nullptr;
}

void redlock_coordinator::note_token(std::int64_t token) noexcept {
  const lock_type lock(mutex_);
  proposals_.note_own(token);
}

quorum_round& redlock_coordinator::take_round() {
  return rounds_.take([this] {
    auto& self = static_cast<quorum_round_listener&>(*this);
    return std::make_unique<quorum_round>(servers_, self);
  });
}

// A server with many unanswered requests for votes gets no further one until it replies. A quorum
// of the others decides, and its pending releases stay bounded. A release goes to the servers with
// a request, or to all if these are unknown.
quorum::server_set redlock_coordinator::whom_to_ask(const step_request& made,
                                                    const acquisition& about) const noexcept {
  quorum::server_set whom;
  const auto window = least_window + window_of_each * requests_.load(std::memory_order_relaxed);
  for (std::size_t server = 0; server < states_.size(); ++server) {
    const bool is_told = !about.votes.is_known() || about.votes.asked().test(server);
    whom.set(server, is_take(made.what)      ? states_[server].takes < window
                     : is_release(made.what) ? is_told
                                             : true);
  }
  return whom;
}

// Returns a result if no reply can change it.
std::optional<step_result> redlock_coordinator::begin(quorum_round& round, const step_request& made,
                                                      acquisition& about, time_ns now,
                                                      const lock::operation* sends) try {
  auto result = round.begin(made, *about.rules, about.keys, now, whom_to_ask(made, about), sends);
  ++about.rounds;
  for (std::size_t server = 0; server < states_.size(); ++server) {
    if (!round.sent_to().test(server)) continue;
    about.votes.note_sent(server, made.what);
    if (is_take(made.what)) ++states_[server].takes;
  }
  end_if_over(round);
  return result;
} catch (const std::bad_alloc&) {
  rounds_.put(round);
  throw;
}

time_ns redlock_coordinator::end_of_patience(const quorum_round& round) const noexcept {
  const auto lease = to_ns(round.asked().ttl_ms);
  const auto usual = std::clamp(lease / 20, least_patience_ns, most_patience_ns);
  const auto slow = std::min({2 * times_.of_quorum(), lease / 4, slow_patience_ns});
  return round.heard + std::max(usual, slow);
}

void redlock_coordinator::end_if_over(quorum_round& round) noexcept {
  if (!round.is_over()) return;
  const auto known = acquisitions_.find(round.asked().token);
  if (known != acquisitions_.end()) --known->second.rounds;
  rounds_.put(round);
}

status redlock_coordinator::ask(quorum_request& requester, const step_request& request,
                                const protocol::table& rules, const lock::operation* sends) {
  const lock_type lock(mutex_);
  const auto now = boot_now();
  plan_sweep(now);
  auto& mine = acquisitions_[std::string(request.token)];
  auto& round = take_round();
  mine.name = requester.name_;
  mine.rules = &rules;
  mine.keys = requester.keys_;
  mine.retry_at = time_never;
  round.proposals = 1;
  if (!begin(round, request_for(request, mine, now), mine, now, sends)) {
    round.of = &requester;
    requester.round_ = &round;
    // An unreachable server may have a vote of this client, also one without a reply so far.
    if (is_release(request.what)) {
      for (std::size_t server = 0; server < states_.size(); ++server) {
        if (mine.votes.lacks_release(server)) deliver_later(server, now);
      }
    }
    return status::ok;
  }
  // Too few servers were reached. Their votes are released. A release is delivered to the rest
  // later.
  if (is_take(request.what)) give_back(round, mine, now);
  retry(mine, request, 0, now);
  return status::unreachable;
}

step_request redlock_coordinator::request_for(const step_request& request, acquisition& about,
                                              time_ns now) {
  auto made = request;
  if (is_take(request.what)) {
    // Each round has its own proposal. A late release of an earlier round does not affect this one
    // (hazard 16).
    made.what = is_by_who_waits(request.what) ? step::acquire : step::try_take;
    about.proposal = std::max(about.proposal + 1, proposals_.next(now));
    about.is_kept = true;
    about.give_back = step::release_alone;
  } else if (request.reserve > 0) {
    about.proposal =
        std::max(about.proposal + request.reserve, proposals_.next(now, request.reserve));
  } else if (is_release(request.what)) {
    // Waiters may exist that no server knows.
    if (request.what == step::release_alone) made.what = step::release;
    about.is_kept = false;
    about.give_back = request.what == step::cancel ? step::cancel : step::release;
  }
  made.proposal = about.proposal;
  made.sent_at = now;
  about.lapses_at = std::max(about.lapses_at, now + to_ns(request.ttl_ms));
  return made;
}

// ---- replies --------------------------------------------------------------------------------

void redlock_coordinator::on_answer(quorum_round& round, std::size_t server,
                                    const step_result& reply, time_ns now) noexcept {
  lock_type lock(mutex_);
  // A repeated reply is one vote.
  if (!rounds_.is_used(round) || round.votes().has_answered(server)) return;
  const bool is_again = reply.what == answer::no_script && is_wanted(round.asked());
  if (is_again && round.send_text(server)) return;
  proposals_.note_time(server, reply.server_us, now);
  if (!is_unanswered(reply)) times_.note(server, now - round.sent());
  const auto what = round.asked().what;
  if (reply.what == answer::not_free || reply.what == answer::granted) {
    proposals_.note_token(server, reply.last_token);
  }
  if (is_take(what)) --states_[server].takes;
  if (round.heard == 0 && is_take(what)) {
    round.heard = now;
    plan_look(end_of_patience(round));
  }
  const auto known = acquisitions_.find(round.asked().token);
  const auto* const about = known == acquisitions_.end() ? nullptr : &known->second;
  auto result = round.votes().count(server, counted_as(about, server, what, reply, now));
  if (known != acquisitions_.end()) {
    note_step(known->second, server, round.asked(), reply, now);
    follow_up(round, known->second, result, now);
  }
  end_if_over(round);
  drop_if_over(round.asked().token);
  tell(lock, round, result, now);
}

// How a reply counts in the vote count.
step_result redlock_coordinator::counted_as(const acquisition* about, std::size_t server, step what,
                                            const step_result& reply, time_ns now) const noexcept {
  // A server without a vote of this client has released it.
  const bool is_rid = is_release(what) && reply.what == answer::not_owner && about != nullptr &&
                      !about->votes.may_have(server);
  // The server's votes for readers are useless, because no proposal is above the token that it
  // reports.
  const bool is_useless =
      reply.what == answer::granted && !proposals_.is_credible(reply.last_token, now);
  auto counted = is_useless ? unusable() : reply;
  if (is_rid) counted.what = what == step::cancel ? answer::cancelled : answer::released;
  return counted;
}

// No release would follow a vote that comes after the release (hazard 16).
bool redlock_coordinator::is_wanted(const step_request& request) const noexcept {
  if (!is_take(request.what)) return true;
  const auto known = acquisitions_.find(request.token);
  return known != acquisitions_.end() && known->second.is_kept &&
         known->second.proposal == request.proposal;
}

void redlock_coordinator::tell(lock_type& lock, quorum_round& round,
                               const std::optional<step_result>& result, time_ns now) {
  if (!result || round.of == nullptr) return;
  auto* const request = std::exchange(round.of, nullptr);
  request->round_ = nullptr;
  lock.unlock();
  request->asker_.on_result(*request, *result, now);
}

// Applies a reply, or the end of patience, to the votes of its owner token.
void redlock_coordinator::follow_up(quorum_round& round, acquisition& about,
                                    std::optional<step_result>& result, time_ns now) {
  const auto what = round.asked().what;
  if (is_take(what)) {
    follow_round(round, about, result, now);
  } else if (what == step::renew) {
    round.has_quorum = round.has_quorum || (result && result->what == answer::renewed);
    if (round.has_quorum) top_up(round, about, now);
  }
  if (!result) return;
  if (is_unanswered(*result)) {
    retry(about, round.asked(), result->wait_ms, now);
  } else {
    about.failures = 0;
  }
}

void redlock_coordinator::follow_round(quorum_round& round, acquisition& about,
                                       std::optional<step_result>& result, time_ns now) {
  // Also if a late reply reports a free server that only accepts a higher token.
  if (round.has_quorum) return top_up(round, about, now);
  if (!result) return;
  if (result->what == answer::granted) {
    // A quorum has voted, and some of its servers know readers with higher tokens. The next
    // proposal is above all of these. Once a quorum knows it, the token is above all earlier
    // grants.
    if (round.is_confirming || !round.votes().is_outdone()) {
      round.has_quorum = true;
      return top_up(round, about, now);
    }
    if (propose_again(round, about, now, true)) return result.reset();
    result->what = answer::unsent;
  } else if (round.votes().is_outrun() && round.proposals < most_proposals &&
             propose_again(round, about, now, false)) {
    return result.reset();
  }
  refuse(round, about, *result, now);
}

void redlock_coordinator::refuse(quorum_round& round, acquisition& about, step_result& result,
                                 time_ns now) {
  if (result.what == answer::not_free) {
    result.is_split = round.votes().is_split();
    result.look_in_ns = longest_look_ns - below(longest_look_ns / 10);
  }
  if (is_waiting_writer(round.asked())) {
    result.look_in_ns = std::min(result.look_in_ns, writer_look_ns);
    result.is_noted = true;
  }
  // At once, because others wait for these votes. Also if no server has granted its vote yet.
  give_back(round, about, now);
}

// Repeats the request with a higher token. Not if its votes were given up meanwhile, because these
// new votes would never be released.
bool redlock_coordinator::propose_again(quorum_round& round, acquisition& about, time_ns now,
                                        bool is_confirming) try {
  if (round.of == nullptr || !about.is_kept) return false;
  const auto again = request_for(round.asked(), about, now);
  if (is_confirming && !round.votes().is_above_all(again.proposal)) return false;
  auto& next = take_round();
  next.proposals = round.proposals + 1;
  if (begin(next, again, about, now)) return false;
  next.is_confirming = is_confirming;
  next.of = std::exchange(round.of, nullptr);
  next.of->round_ = &next;
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// By xorshift64 (Marsaglia). Random delays are needed, because clients in step split the votes.
std::uint64_t redlock_coordinator::chance() noexcept {
  chance_ ^= chance_ << 13U;
  chance_ ^= chance_ >> 7U;
  chance_ ^= chance_ << 17U;
  return chance_;
}

// ---- background work ------------------------------------------------------------------------

void redlock_coordinator::retry(acquisition& about, const step_request& request,
                                std::int64_t wait_ms, time_ns now) noexcept {
  const auto ninth = to_ns(request.ttl_ms) / tries_in_a_lease;
  const auto most = request.what == step::renew ? ninth
                    : is_take(request.what)     ? std::min(ninth, longest_look_ns)
                                                : longest_look_ns;
  const auto delay = quorum::spread_delay(retry_ns, about.failures++, most, chance());
  about.retry_at = ((now + to_ns(wait_ms) + delay) / retry_grain_ns + 1) * retry_grain_ns;
  retries_at_ = std::min(retries_at_, about.retry_at);
  plan_look(about.retry_at);
}

// Requests the votes of vacant servers for the rest of the lease. Follows a grant or a renewal of
// the hold by a quorum. Such a vote never counts in the round that found it missing (hazard 17).
// Its proposal is new, because the server may have forgotten a vote above the old one (hazard 30).
void redlock_coordinator::top_up(quorum_round& round, acquisition& about, time_ns now) {
  const auto vacant = round.votes().vacant() & ~round.topped_up;
  if (vacant.none()) return;
  auto again = round.asked();
  again.what = step::reacquire;
  again.ttl_ms -= (now - round.sent()) / ns_per_ms + 1;
  if (again.ttl_ms <= 0 || !about.is_kept || about.is_forced) return;
  about.proposal = std::max(about.proposal + 1, proposals_.next(now));
  again.proposal = about.proposal;
  for (std::size_t server = 0; server < servers_.size(); ++server) {
    if (vacant.test(server)) send_in_background(server, again, about, false, now);
  }
  round.topped_up |= vacant;
}

void redlock_coordinator::on_forced(std::string_view token) noexcept {
  const lock_type lock(mutex_);
  const auto known = acquisitions_.find(token);
  if (known != acquisitions_.end()) known->second.is_forced = true;
}

void redlock_coordinator::drop_if_over(std::string_view token) noexcept {
  const auto known = acquisitions_.find(token);
  if (known != acquisitions_.end() && is_over(known->second)) acquisitions_.erase(known);
}

// ---- time -----------------------------------------------------------------------------------

void redlock_coordinator::on_server_up(std::size_t server, time_ns now) noexcept {
  const lock_type lock(mutex_);
  states_[server].owed.begin();
  deliver(server, now);
}

void redlock_coordinator::plan_look(time_ns at) noexcept {
  if (at >= look_at_) return;
  look_at_ = at;
  loop_.schedule(*this, at);
}

void redlock_coordinator::on_timer(time_ns now) noexcept {
  lock_type lock(mutex_);
  look_at_ = time_never;
  end_patience(lock, now);
  for (std::size_t server = 0; server < states_.size(); ++server) {
    deliver(server, now);
    if (states_[server].owed.is_on()) plan_look(states_[server].owed.due_at());
  }
  sweep(now);
  tell_worth_asking(lock, now);
}

void redlock_coordinator::plan_sweep(time_ns now) noexcept {
  if (sweep_at_ != time_never) return;
  sweep_at_ = now + sweep_ns;
  plan_look(sweep_at_);
}

// Also drops acquisitions that ended without a release, such as a lost hold.
void redlock_coordinator::sweep(time_ns now) noexcept {
  if (now < sweep_at_) return plan_look(sweep_at_);
  sweep_at_ = time_never;
  for (auto item = acquisitions_.begin(); item != acquisitions_.end();) {
    const auto& about = item->second;
    const bool is_lapsed =
        now >= about.lapses_at && about.retry_at == time_never && about.rounds == 0;
    item = is_lapsed ? acquisitions_.erase(item) : std::next(item);
  }
  bool is_any = !acquisitions_.empty();
  rounds_.trim();
  is_any = is_any || rounds_.size() > 0;
  for (auto& state : states_) {
    state.background_requests.trim();
    is_any = is_any || state.background_requests.size() > 0;
  }
  if (is_any) plan_sweep(now);
}

// Rounds may be added and change places while a result is reported.
void redlock_coordinator::end_patience(lock_type& lock, time_ns now) {
  for (std::size_t place = 0; place < rounds_.used();) {
    auto& round = rounds_.at(place++);
    const bool is_waiting = !round.is_over() && round.of != nullptr && round.heard != 0;
    if (!is_waiting || !is_take(round.asked().what)) continue;
    const auto until = end_of_patience(round);
    if (until > now) {
      plan_look(until);
      continue;
    }
    auto result = round.votes().give_up(now - round.sent());
    const auto known = acquisitions_.find(round.asked().token);
    if (known != acquisitions_.end()) follow_up(round, known->second, result, now);
    tell(lock, round, result, now);
    if (lock.owns_lock()) continue;
    lock.lock();
    place = 0;
  }
}

void redlock_coordinator::tell_worth_asking(lock_type& lock, time_ns now) noexcept {
  if (now < retries_at_) return plan_look(retries_at_);
  retries_at_ = time_never;
  due_names due;
  for (auto item = acquisitions_.begin(); item != acquisitions_.end();) {
    auto& about = item->second;
    const bool is_due = about.retry_at <= now;
    if (is_due) {
      about.retry_at = time_never;
      due.add(about.name);
    }
    retries_at_ = std::min(retries_at_, about.retry_at);
    item = is_due && is_over(about) ? acquisitions_.erase(item) : std::next(item);
  }
  plan_look(retries_at_);
  lock.unlock();
  if (!due.is_empty()) hears_.on_worth_asking(due, now);
}

}  // namespace mortise::deployment
