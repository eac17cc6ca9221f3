#include "deployment/voting.hpp"

#include <algorithm>
#include <new>
#include <set>
#include <utility>

#include "base/random.hpp"
#include "lock/portion.hpp"

namespace mortise::deployment {

namespace {

using lock::answer;
using lock::question;
using lock::step;
using lock::verdict;

// How often a question is asked with a higher proposal before it has failed.
constexpr int most_proposals = 5;
// For how long the votes of a contest are waited for, once there is one answer: a network that is
// slow costs time and nothing else.
constexpr time_ns least_patience_ns = 5 * ns_per_ms;
constexpr time_ns most_patience_ns = 250 * ns_per_ms;
// Whoever waits asks at least as often: the word of one release that is late can be taken for that
// of the next, whose own then comes too early to be acted on, or too late (hazard 24).
constexpr time_ns longest_look_ns = 2 * ns_per_s;
// A writer who waits asks at least as often, so that readers are held back for it; the scripts'
// WRITER_LIFE is three times that.
constexpr time_ns writer_look_ns = ns_per_s;
// How soon a question that too few servers have answered is worth asking again.
constexpr time_ns retry_ns = 50 * ns_per_ms;

// Not the top-up of a server, which is an errand.
bool is_contest(step what) noexcept { return what != step::renew && what <= step::retake; }
bool is_release(step what) noexcept { return what >= step::release_alone; }
// Also `reacquire` is a contest like the first: what a server is asked again for is a top-up.
bool is_by_who_waits(step what) noexcept {
  return what == step::acquire || what == step::reacquire;
}
bool is_waiting_writer(const question& asked) noexcept {
  return asked.what == step::acquire && asked.weight == lock::whole_weight;
}

time_ns patience_of(const question& asked) noexcept {
  return std::clamp(to_ns(asked.ttl_ms) / 20, least_patience_ns, most_patience_ns);
}

// What a server's answer tells of its vote.
void note_vote(claim& about, std::size_t server, step asked, answer said) noexcept {
  switch (said) {
    case answer::granted:
    case answer::renewed:
      about.has.set(server);
      return;
    case answer::not_free:
    case answer::not_owner:
    case answer::released:
    case answer::cancelled:
      about.has.reset(server);
      return;
    case answer::broken:
    case answer::unacknowledged:
    case answer::unknown:
      // It may have been carried out (hazard 15).
      if (is_contest(asked)) about.has.set(server);
      return;
    default:
      return;  // not carried out
  }
}

// Until its clock is right.
verdict unusable() noexcept {
  verdict result;
  result.what = answer::refused;
  result.is_passing = true;
  return result;
}

// The names whose questions are worth asking again.
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

// ---- what one server is told that nobody waits for ------------------------------------------

class voting::errand final : private inquirer {
 public:
  errand(voting& all, std::size_t server)
      : all_(all), server_(server), to_(all.servers_.at(server).new_inquiry(*this, {})) {}
  [[nodiscard]] bool is_idle_for(std::size_t server) const noexcept {
    return !is_open_ && server == server_;
  }
  status send(const question& asked, const claim& about, time_ns now) {
    asked_ = asked;
    token_ = asked.token;
    asked_.token = token_;
    asked_.asked_at = 0;  // it may be sent again, much later
    lapses_at_ = now + to_ns(asked.ttl_ms);
    rules_ = about.rules;
    keys_ = about.keys;
    return send_again();
  }

 private:
  status send_again() noexcept {
    const auto sent = to_->send(asked_, *rules_, *keys_, nullptr);
    is_open_ = sent == status::ok;
    return sent;
  }
  void on_verdict(inquiry& /*answered*/, const verdict& said, time_ns now) noexcept override {
    const lock_type lock(all_.mutex_);
    if (said.what == answer::no_script && send_text(now)) return;
    is_open_ = false;
    all_.on_errand_done(server_, asked_, said, now);
  }

  // A vote ends when it would have without this (hazard 17).
  bool send_text(time_ns now) noexcept {
    if (std::exchange(asked_.with_text, true) || !all_.is_wanted(asked_)) return false;
    if (is_contest(asked_.what)) {
      asked_.ttl_ms = std::min(asked_.ttl_ms, (lapses_at_ - now) / ns_per_ms);
      if (asked_.ttl_ms <= 0) return false;
    }
    return send_again() == status::ok;
  }

  voting& all_;
  const std::size_t server_;
  const std::unique_ptr<inquiry> to_;
  time_ns lapses_at_ = 0;
  question asked_;
  std::string token_;  // which the question refers to
  const protocol::table* rules_ = nullptr;
  std::shared_ptr<const protocol::key_set> keys_;
  bool is_open_ = false;
};

// ---- questions ------------------------------------------------------------------------------

quorum_inquiry::~quorum_inquiry() { all_.forget(*this); }

status quorum_inquiry::send(const question& asked, const protocol::table& rules,
                            const protocol::key_set& keys, const lock::operation* by) noexcept try {
  if (!keys_) keys_ = std::make_shared<const protocol::key_set>(keys);
  return all_.ask(*this, asked, rules, by != nullptr && !by->awaits_answer ? by : nullptr);
} catch (const std::bad_alloc&) {
  return status::no_memory;
}

voting::voting(const server_group& servers, std::size_t count, net::reactor& loop, listener& hears)
    : servers_(servers),
      loop_(loop),
      hears_(hears),
      proposals_(count),
      chance_(random_number() | 1U) {}

voting::~voting() { close(); }

void voting::forget(const quorum_inquiry& gone) noexcept {
  const lock_type lock(mutex_);
  for (const auto& round : rounds_) {
    if (round->of == &gone) round->of = nullptr;
  }
}

void voting::note_token(std::int64_t token) noexcept {
  const lock_type lock(mutex_);
  proposals_.note_own(token);
}

quorum_round& voting::idle_round() {
  for (const auto& round : rounds_) {
    if (round->is_over() && round->of == nullptr) return *round;
  }
  auto& self = static_cast<quorum_round_listener&>(*this);
  rounds_.push_back(std::make_unique<quorum_round>(servers_, self));
  return *rounds_.back();
}

status voting::ask(quorum_inquiry& by, const question& asked, const protocol::table& rules,
                   const lock::operation* sends) {
  const lock_type lock(mutex_);
  const auto now = boot_now();
  auto& round = idle_round();
  auto& mine = claims_[std::string(asked.token)];
  mine.name = by.name_;
  mine.rules = &rules;
  mine.keys = by.keys_;
  mine.retry_at = time_never;
  round.proposals = 1;
  if (!round.begin(question_for(asked, mine, now), rules, mine.keys, now, sends)) {
    round.of = &by;
    // Who could not be told may have a vote of ours, also one that it has not told us of yet.
    if (is_release(asked.what)) {
      mine.has |= round.votes().failed();
      bring_owed(asked.token, mine, round.votes().failed(), now);
    }
    return status::ok;
  }
  // Too few could be asked. What the others vote is given back; a release is brought to the rest.
  if (is_contest(asked.what)) give_back(round, mine, now);
  retry(mine, now);
  return status::unreachable;
}

question voting::question_for(const question& asked, claim& about, time_ns now) {
  auto made = asked;
  if (is_contest(asked.what)) {
    // With a proposal of its own each time: a release of the contest before takes nothing of this
    // one, wherever it is still on its way (hazard 16).
    made.what = is_by_who_waits(asked.what) ? step::acquire : step::try_take;
    about.proposal = std::max(about.proposal + 1, proposals_.next(now));
    about.is_kept = true;
    about.give_back = step::release_alone;
  } else if (asked.reserve > 0) {
    about.proposal = std::max(about.proposal + asked.reserve, proposals_.next(now, asked.reserve));
  } else if (is_release(asked.what)) {
    // Others may wait, of whom no server knows.
    if (asked.what == step::release_alone) made.what = step::release;
    about.is_kept = false;
    about.give_back = asked.what == step::cancel ? step::cancel : step::release;
  }
  made.proposal = about.proposal;
  made.asked_at = now;
  about.lapses_at = std::max(about.lapses_at, now + to_ns(asked.ttl_ms));
  return made;
}

// ---- answers --------------------------------------------------------------------------------

void voting::on_answer(quorum_round& asked, std::size_t server, const verdict& said,
                       time_ns now) noexcept {
  lock_type lock(mutex_);
  const bool is_again = said.what == answer::no_script && is_wanted(asked.asked());
  if (is_again && asked.send_text(server)) return;
  proposals_.note_time(server, said.server_us, now);
  const auto what = asked.asked().what;
  if (said.what == answer::not_free || said.what == answer::granted) {
    proposals_.note_token(server, said.last_token);
  }
  if (asked.heard == 0 && is_contest(what)) {
    asked.heard = now;
    plan_look(now + patience_of(asked.asked()));
  }
  const auto known = claims_.find(asked.asked().token);
  auto counted = said;
  // Whoever has no vote of ours has given it back.
  const bool is_rid = is_release(what) && said.what == answer::not_owner &&
                      known != claims_.end() && !known->second.has.test(server);
  if (is_rid) counted.what = what == step::cancel ? answer::cancelled : answer::released;
  // Its votes for readers are of no use, because no proposal is above what it knows.
  const bool is_useless =
      said.what == answer::granted && !proposals_.is_credible(said.last_token, now);
  if (is_useless) counted = unusable();
  auto verdict = asked.votes().count(server, counted);
  if (known != claims_.end()) {
    note_vote(known->second, server, what, said.what);
    follow_up(asked, known->second, verdict, now);
  }
  drop_if_over(asked.asked().token);
  tell(lock, asked, verdict, now);
}

// Once a release has been said nobody would take back a vote that comes behind it (hazard 16).
bool voting::is_wanted(const question& asked) const noexcept {
  if (!is_contest(asked.what)) return true;
  const auto known = claims_.find(asked.token);
  return known != claims_.end() && known->second.is_kept &&
         known->second.proposal == asked.proposal;
}

void voting::tell(lock_type& lock, quorum_round& asked, const std::optional<verdict>& verdict,
                  time_ns now) {
  if (!verdict || asked.of == nullptr) return;
  auto* const of = std::exchange(asked.of, nullptr);
  lock.unlock();
  of->asker_.on_verdict(*of, *verdict, now);
}

// What an answer, or the end of patience, means for the votes of its owner token.
void voting::follow_up(quorum_round& asked, claim& about, std::optional<verdict>& verdict,
                       time_ns now) {
  const auto what = asked.asked().what;
  if (is_contest(what)) {
    follow_contest(asked, about, verdict, now);
  } else if (what == step::renew) {
    asked.is_renewed = asked.is_renewed || (verdict && verdict->what == answer::renewed);
    if (asked.is_renewed) top_up(asked, about, now);
  }
  if (verdict && (verdict->what == answer::broken || verdict->what == answer::unsent)) {
    retry(about, now);
  }
}

void voting::follow_contest(quorum_round& asked, claim& about, std::optional<verdict>& verdict,
                            time_ns now) {
  if (!verdict) return;
  if (verdict->what == answer::granted) {
    // A quorum has voted, and some of it know of readers with higher tokens. Once a quorum knows of
    // one that is above all that this one knew, the token is above all that was granted before.
    if (asked.is_confirming || !asked.votes().is_outdone()) return;
    if (propose_again(asked, about, now, true)) return verdict.reset();
    verdict->what = answer::unsent;
  } else if (asked.votes().is_outrun() && asked.proposals < most_proposals &&
             propose_again(asked, about, now, false)) {
    return verdict.reset();
  }
  refuse(asked, about, *verdict, now);
}

void voting::refuse(quorum_round& asked, claim& about, verdict& verdict, time_ns now) {
  if (verdict.what == answer::not_free) {
    verdict.is_split = asked.votes().is_split();
    verdict.look_in_ns = longest_look_ns - below(longest_look_ns / 10);
  }
  if (is_waiting_writer(asked.asked())) {
    verdict.look_in_ns = std::min(verdict.look_in_ns, writer_look_ns);
    verdict.is_noted = true;
  }
  // At once, because others wait for these votes, and also where nobody has said yes yet.
  give_back(asked, about, now);
}

// The same with a higher token, for the same inquiry; unless its votes were given up meanwhile, as
// nobody would give these back.
bool voting::propose_again(quorum_round& asked, claim& about, time_ns now, bool is_confirming) try {
  if (asked.of == nullptr || !about.is_kept) return false;
  const auto again = question_for(asked.asked(), about, now);
  if (is_confirming && !asked.votes().is_above_all(again.proposal)) return false;
  auto& next = idle_round();
  next.proposals = asked.proposals + 1;
  if (next.begin(again, *about.rules, about.keys, now)) {
    about.has |= next.votes().in_doubt();
    return false;
  }
  next.is_confirming = is_confirming;
  next.of = std::exchange(asked.of, nullptr);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// By xorshift64 (Marsaglia), as those who look in step split the votes.
time_ns voting::below(time_ns limit) noexcept {
  chance_ ^= chance_ << 13U;
  chance_ ^= chance_ >> 7U;
  chance_ ^= chance_ << 17U;
  return static_cast<time_ns>(chance_ % static_cast<std::uint64_t>(limit));
}

// ---- what is done for nobody ----------------------------------------------------------------

// Who has not answered is told behind what it was asked; who cannot be told, when it is back.
void voting::give_back(const quorum_round& asked, claim& about, time_ns now) {
  about.is_kept = false;
  about.has |= asked.votes().in_doubt();
  bring_owed(asked.asked().token, about, about.has, now);
}

// Where there is no memory for it, it is tried again: nobody else would do it before the lease
// ends.
void voting::bring_owed(std::string_view token, claim& about, const quorum::server_set& where,
                        time_ns now) noexcept {
  question back;
  back.what = about.give_back;
  back.token = token;
  back.proposal = about.proposal;
  for (std::size_t server = 0; server < servers_.size(); ++server) {
    if (!about.has.test(server) || !where.test(server)) continue;
    if (send_errand(server, back, about, now) == status::no_memory) retry(about, now);
  }
}

void voting::retry(claim& about, time_ns now) noexcept {
  about.retry_at = now + retry_ns;
  plan_look(about.retry_at);
}

// Where a server has come back without our vote, once a quorum has prolonged it; it never counts
// for that quorum (hazard 17), and ends with it. Its proposal is a new one: with the old one the
// server would vote below what it has voted for and has forgotten (hazard 30).
void voting::top_up(quorum_round& asked, claim& about, time_ns now) {
  const auto vacant = asked.votes().vacant() & ~asked.topped_up;
  if (vacant.none()) return;
  auto again = asked.asked();
  again.what = step::reacquire;
  again.ttl_ms -= (now - asked.sent()) / ns_per_ms + 1;
  if (again.ttl_ms <= 0 || !about.is_kept || about.is_forced) return;
  about.proposal = std::max(about.proposal + 1, proposals_.next(now));
  again.proposal = about.proposal;
  for (std::size_t server = 0; server < servers_.size(); ++server) {
    if (vacant.test(server)) send_errand(server, again, about, now);
  }
  asked.topped_up |= vacant;
}

void voting::on_forced(std::string_view token) noexcept {
  const lock_type lock(mutex_);
  const auto known = claims_.find(token);
  if (known != claims_.end()) known->second.is_forced = true;
}

status voting::send_errand(std::size_t server, const question& asked, const claim& about,
                           time_ns now) noexcept try {
  for (const auto& item : errands_) {
    if (item->is_idle_for(server)) return item->send(asked, about, now);
  }
  errands_.push_back(std::make_unique<errand>(*this, server));
  return errands_.back()->send(asked, about, now);
} catch (const std::bad_alloc&) {
  return status::no_memory;
}

void voting::on_errand_done(std::size_t server, const question& asked, const verdict& said,
                            time_ns now) noexcept {
  if (said.what == answer::not_free) proposals_.note_token(server, said.last_token);
  const auto known = claims_.find(asked.token);
  if (known == claims_.end()) return;
  note_vote(known->second, server, asked.what, said.what);
  // There was no memory for its text.
  if (said.what == answer::no_script && !known->second.is_kept) retry(known->second, now);
  drop_if_over(asked.token);
}

bool voting::is_open(std::string_view token) const noexcept {
  return std::any_of(rounds_.begin(), rounds_.end(), [&](const auto& round) {
    return !round->is_over() && round->asked().token == token;
  });
}

void voting::drop_if_over(std::string_view token) noexcept {
  const auto known = claims_.find(token);
  if (known == claims_.end()) return;
  const auto& about = known->second;
  const bool is_over = !about.is_kept && about.has.none() && about.retry_at == time_never;
  if (is_over && !is_open(token)) claims_.erase(known);
}

// ---- time -----------------------------------------------------------------------------------

void voting::on_server_up(std::size_t server, time_ns now) noexcept {
  const lock_type lock(mutex_);
  for (auto item = claims_.begin(); item != claims_.end();) {
    auto& [token, about] = *item;
    if (!about.is_kept && about.has.test(server)) bring_owed(token, about, about.has, now);
    const bool is_over = now >= about.lapses_at && !is_open(token);
    item = is_over ? claims_.erase(item) : std::next(item);
  }
}

void voting::plan_look(time_ns at) noexcept {
  if (at >= look_at_) return;
  look_at_ = at;
  loop_.schedule(*this, at);
}

void voting::on_timer(time_ns now) noexcept {
  lock_type lock(mutex_);
  look_at_ = time_never;
  end_patience(lock, now);
  tell_worth_asking(lock, now);
}

// By number, because others may come while the verdict is told.
void voting::end_patience(lock_type& lock, time_ns now) {
  for (std::size_t i = 0; i < rounds_.size(); ++i) {
    auto& round = *rounds_[i];
    const bool is_waiting = !round.is_over() && round.of != nullptr && round.heard != 0;
    if (!is_waiting || !is_contest(round.asked().what)) continue;
    const auto until = round.heard + patience_of(round.asked());
    if (until > now) {
      plan_look(until);
      continue;
    }
    auto verdict = round.votes().give_up();
    const auto known = claims_.find(round.asked().token);
    if (known != claims_.end()) follow_up(round, known->second, verdict, now);
    tell(lock, round, verdict, now);
    if (!lock.owns_lock()) lock.lock();
  }
}

// What is over without a word, such as a hold that was lost, is forgotten here, too.
void voting::tell_worth_asking(lock_type& lock, time_ns now) noexcept {
  due_names due;
  for (auto item = claims_.begin(); item != claims_.end();) {
    auto& [token, about] = *item;
    if (about.retry_at <= now) {
      about.retry_at = time_never;
      due.add(about.name);
      if (!about.is_kept) bring_owed(token, about, about.has, now);
    }
    if (about.retry_at != time_never) plan_look(about.retry_at);
    const bool is_over = now >= about.lapses_at && about.retry_at == time_never && !is_open(token);
    item = is_over ? claims_.erase(item) : std::next(item);
  }
  lock.unlock();
  if (!due.is_empty()) hears_.on_worth_asking(due, now);
}

}  // namespace mortise::deployment
