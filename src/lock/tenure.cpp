#include "lock/tenure.hpp"

#include <algorithm>
#include <utility>

#include "lock/lease.hpp"

namespace mortise::lock {

namespace {

// How a waiter looks again by itself, in case a message was lost or somebody died (hazard 24). The
// head looks right when the present lease ends; those behind it later, the further the later, so
// that many waiters cost the server few looks.
constexpr std::int64_t poll_cap_ms = 15'000;
constexpr time_ns poll_slack_ns = 2 * ns_per_ms;
constexpr std::int64_t poll_jitter_ns = 3 * ns_per_ms;
constexpr time_ns poll_behind_ns = 700 * ns_per_ms;
constexpr time_ns poll_each_place_ns = 30 * ns_per_ms;
constexpr std::int64_t poll_places_max = 10'000;
// A refusal that will pass is asked again after this, with full jitter on top.
constexpr time_ns retry_ns = 50 * ns_per_ms;

constexpr time_ns to_ns(std::int64_t ms) noexcept { return ms * ns_per_ms; }

}  // namespace

tenure::tenure(std::uint64_t id, std::string token, const keeping& terms, bool waits, link& world)
    : world_(world), id_(id), token_(std::move(token)), terms_(terms), waits_(waits) {}

std::int64_t tenure::lease_ttl_ms() const noexcept { return server_ttl_ms(terms_.lease_ms); }

// ---- questions ------------------------------------------------------------------------------

bool tenure::ask(step what, std::int64_t ttl_ms, operation* caller, time_ns now, time_ns target,
                 std::int64_t reserve, bool with_text) {
  question asked;
  asked.tenure = id_;
  asked.serial = serial_ + 1;
  asked.what = what;
  asked.token = token_;
  asked.ttl_ms = ttl_ms;
  asked.reserve = reserve;
  asked.knows_of_waiters = others_wait_;
  asked.with_text = with_text;
  if (!world_.ask(asked, caller)) {
    // Without a connection on_up() asks again; without room, a little time does.
    if (world_.problem().ok()) retry_later(now);
    return false;
  }
  ++serial_;
  if (serial_ == 1) reference_ns_ = now;
  open_.push_back({serial_, what, now, target, ttl_ms, reserve});
  return true;
}

std::optional<tenure::open_question> tenure::close_question(std::uint32_t serial) {
  const auto found = std::find_if(open_.begin(), open_.end(),
                                  [&](const auto& item) { return item.serial == serial; });
  if (found == open_.end()) return std::nullopt;
  auto asked = *found;
  open_.erase(found);
  return asked;
}

// Four answers say that an attempt to get the lock left nothing at the server.
void tenure::note_trace(step asked, answer said) noexcept {
  const bool is_attempt = asked != step::renew && asked != step::release && asked != step::cancel;
  if (is_attempt && said != answer::not_free && said != answer::refused &&
      said != answer::no_script && said != answer::unsent) {
    may_be_there_ = true;
  }
}

void tenure::start(bool directly, operation* caller, time_ns now) {
  ask(directly && waits_ ? step::acquire : step::try_take, lease_ttl_ms(), caller, now);
}

news tenure::on_answer(std::uint32_t serial, const verdict& said, time_ns now) {
  const auto asked = close_question(serial);
  if (!asked) return news::none;
  note_trace(asked->what, said.what);
  switch (phase_) {
    case tenure_phase::asking:
    case tenure_phase::queued:
      return on_acquire_answer(*asked, said, now);
    case tenure_phase::held:
      return on_held_answer(*asked, said, now);
    case tenure_phase::leaving:
      return on_leave_answer(*asked, said, now);
    case tenure_phase::over:
      break;
  }
  return news::none;
}

void tenure::on_up(time_ns now) {
  switch (phase_) {
    case tenure_phase::asking:
    case tenure_phase::queued:
      // The same token, because it is the same attempt: whatever the broken connection did, the
      // answer says where we stand (hazards 15 and 16).
      if (open_.empty()) ask(waits_ ? step::reacquire : step::retake, lease_ttl_ms(), nullptr, now);
      break;
    case tenure_phase::held:
      // Finds out at once whether the hold has survived.
      renew_at_ = now;
      renew_if_wanted(now);
      break;
    case tenure_phase::leaving:
      if (open_.empty()) ask(leave_step_, 0, nullptr, now);
      break;
    case tenure_phase::over:
      break;
  }
}

// ---- asking and queued ----------------------------------------------------------------------

news tenure::on_acquire_answer(const open_question& asked, const verdict& said, time_ns now) {
  if (said.what != answer::unsent) was_broken_ = said.what == answer::broken;
  switch (said.what) {
    case answer::granted:
      if (said.last_token < least_token) {
        // The fence counter was lost. It is repaired, by asking by script, before the grant is told.
        ask(waits_ ? step::reacquire : step::retake, lease_ttl_ms(), nullptr, now);
        return news::none;
      }
      return enter_held(asked.sent, terms_.lease_ms, said, now);
    case answer::not_free:
      if (waits_) {
        ask(asked.what == step::try_take ? step::acquire : step::reacquire, lease_ttl_ms(), nullptr,
            now);
        return news::none;
      }
      phase_ = tenure_phase::over;
      return news::not_free;
    case answer::queued:
      phase_ = tenure_phase::queued;
      reference_ns_ = asked.sent;
      reference_us_ = said.server_us;
      plan_poll(said, now);
      // What the answer knows can be older than a message that came before it (RESP2).
      if (told_head_at_ >= asked.sent) ask_at_ = std::min(ask_at_, head_look_at_);
      return news::none;
    case answer::no_script:
      ask(asked.what, asked.ttl_ms, nullptr, now, 0, 0, true);
      return news::none;
    case answer::broken:
    case answer::unsent:
      return news::none;  // asked again by on_up()
    default:
      details_ = said.details;
      return news::refused;
  }
}

void tenure::retry_later(time_ns now, time_ns at_least) {
  ask_at_ = now + std::max(retry_ns, at_least) + world_.random_below(retry_ns);
}

void tenure::plan_poll(const verdict& said, time_ns now) noexcept {
  // No key (-2): nobody holds it. A key without expiry (-1) is none that this protocol writes.
  const auto ttl_ms =
      said.ttl_ms == -1 ? 1000 : std::clamp<std::int64_t>(said.ttl_ms, 0, poll_cap_ms);
  auto wait = to_ns(ttl_ms) + poll_slack_ns + world_.random_below(poll_jitter_ns);
  if (said.place != 0) {
    const auto place = said.place < 0 ? 1 : std::min(said.place, poll_places_max);
    wait += poll_behind_ns + place * poll_each_place_ns + world_.random_below(poll_behind_ns);
  }
  ask_at_ = now + wait;
}

void tenure::on_head(std::int64_t ttl_ms, time_ns now) {
  if (phase_ != tenure_phase::asking && phase_ != tenure_phase::queued) return;
  verdict hint;
  hint.ttl_ms = ttl_ms;
  hint.place = 0;
  plan_poll(hint, now);
  told_head_at_ = now;
  head_look_at_ = ask_at_;
}

news tenure::on_grant(std::int64_t last_token, std::int64_t server_us, bool others_wait,
                      time_ns now) {
  if (phase_ != tenure_phase::asking && phase_ != tenure_phase::queued) return news::none;
  // Older than an answer which said that we were not the owner: that grant has lapsed. Messages can
  // come late where they have a connection of their own (RESP2).
  if (server_us < reference_us_) return news::none;
  // The grant was made when the server says, which by our clock is not before this: the server
  // carried out our question after we had sent it, and its clock is at most a tenth too fast.
  // Counting from the message's receipt would add the time that this process may have been
  // suspended (hazard 1).
  auto from = reference_ns_;
  if (reference_us_ != 0) {
    // What is more than has passed here is cut off below; cut before, it can't overflow.
    const auto passed_us =
        std::min(server_us - reference_us_, 2 * (now - reference_ns_) / ns_per_us);
    from = std::min(now, from + passed_us * ns_per_us / 11 * 10);
  }
  const auto lease_ms = grant_ms(terms_.lease_ms);
  if (now - from > to_ns(lease_ms) / 2) {
    // Too little of it can be counted on, so the server is asked, which also renews it.
    ask(waits_ ? step::reacquire : step::retake, lease_ttl_ms(), nullptr, now);
    return news::none;
  }
  verdict said;
  said.last_token = last_token;
  said.token_count = grant_tokens;
  said.others_wait = others_wait;
  return enter_held(from, lease_ms, said, now);
}

// ---- held -----------------------------------------------------------------------------------

news tenure::enter_held(time_ns from, std::int64_t lease_ms, const verdict& said, time_ns now) {
  phase_ = tenure_phase::held;
  ask_at_ = time_never;
  nominal_ns_ = to_ns(lease_ms);
  granted_at_ = from;
  valid_until_ = from + nominal_ns_;
  asked_until_ = valid_until_;
  others_wait_ = said.others_wait;
  take_tokens(said);
  // An answer that arrives when its lease is over is not a grant (hazard 6).
  if (now >= valid_until_) return lose();
  plan_renewal(from);
  return news::granted;
}

void tenure::take_tokens(const verdict& said) noexcept {
  if (said.token_count == 0 || said.last_token <= last_token_) return;
  next_token_ = said.last_token - said.token_count + 1;
  last_token_ = said.last_token;
}

news tenure::lose() noexcept {
  phase_ = tenure_phase::over;
  return news::lost;
}

// The deadline that the holder wants at the server, as of now.
time_ns tenure::wanted_until(time_ns now) const noexcept {
  const auto lease_end = terms_.renews ? now + to_ns(terms_.lease_ms) : terms_.until;
  return std::min(lease_end, terms_.until);
}

void tenure::plan_renewal(time_ns from) noexcept {
  told_risk_ = false;
  // A third of the lease, give or take a tenth of that, so that many holders do not renew in step.
  const auto third = nominal_ns_ / 3;
  renew_at_ = from + third - third / 10 + world_.random_below(third / 5 + 1);
}

void tenure::keep(const keeping& terms, time_ns now) {
  terms_ = terms;
  told_risk_ = false;
  // Also for a hold that is not renewed: a short grant has to be confirmed, unless it is over before.
  renew_at_ = std::min(renew_at_, valid_until_ - nominal_ns_ / 3 * 2);
  renew_if_wanted(now);
}

std::uint32_t tenure::renew(std::int64_t lease_ms, std::int64_t reserve, operation* caller,
                            time_ns now) {
  // Never ask for less than was asked for before: an answer to the earlier question would promise
  // what the later one took back.
  const auto target = std::max(now + to_ns(lease_ms), asked_until_);
  const auto lease = (target - now + ns_per_ms - 1) / ns_per_ms;
  if (!ask(step::renew, server_ttl_ms(lease), caller, now, target, reserve)) return 0;
  asked_until_ = target;
  return serial_;
}

void tenure::renew_if_wanted(time_ns now) {
  if (phase_ != tenure_phase::held || now < renew_at_) return;
  const auto target = wanted_until(now);
  // Tries are a ninth of the lease apart, so that at least three fit before the margin (hazard 18).
  renew_at_ = now + std::max(nominal_ns_ / 9, ns_per_ms);
  if (target <= valid_until_ + ns_per_ms) {
    if (!terms_.renews || target >= terms_.until) renew_at_ = time_never;
    return;
  }
  constexpr std::size_t tries_open_max = 3;
  if (open_.size() >= tries_open_max) return;
  renew((target - now) / ns_per_ms, 0, nullptr, now);
}

news tenure::on_held_answer(const open_question& asked, const verdict& said, time_ns now) {
  if (asked.what != step::renew) return news::none;  // a look that a message has overtaken
  // The deadline decides, not the answer: once it has passed nothing brings the hold back.
  if (now >= valid_until_) return lose();
  switch (said.what) {
    case answer::renewed:
      if (asked.target > valid_until_) {
        valid_until_ = asked.target;
        nominal_ns_ = asked.target - asked.sent;
        plan_renewal(asked.sent);
        if (!terms_.renews) renew_at_ = time_never;
      }
      others_wait_ = others_wait_ || said.others_wait;
      if (asked.reserve > 0 && said.last_token >= least_token) {
        auto drawn = said;
        drawn.token_count = asked.reserve;
        take_tokens(drawn);
      }
      return news::renewed;
    case answer::not_owner:
      return lose();
    case answer::no_script:
      // Same target: the time to come is shorter, so the server is told what is left of it.
      if (ask(step::renew, server_ttl_ms((asked.target - now) / ns_per_ms + 1), nullptr, now,
              asked.target, asked.reserve, true)) {
        return news::none;
      }
      [[fallthrough]];
    default:
      details_ = said.details;
      return news::renew_failed;
  }
}

// ---- time -----------------------------------------------------------------------------------

time_ns tenure::next_timer() const noexcept {
  switch (phase_) {
    case tenure_phase::asking:
    case tenure_phase::queued:
      return ask_at_;
    case tenure_phase::held: {
      const auto risk_at = told_risk_ ? time_never : valid_until_ - nominal_ns_ / 3;
      return std::min({valid_until_, renew_at_, risk_at});
    }
    case tenure_phase::leaving:
      return std::min(ask_at_, leave_until_);
    case tenure_phase::over:
      break;
  }
  return time_never;
}

news tenure::on_timer(time_ns now) {
  switch (phase_) {
    case tenure_phase::asking:
    case tenure_phase::queued:
      if (now < ask_at_) return news::none;
      ask_at_ = now + ns_per_s;  // planned anew by the answer
      if (open_.empty()) ask(waits_ ? step::reacquire : step::retake, lease_ttl_ms(), nullptr, now);
      return news::none;
    case tenure_phase::held:
      if (now >= valid_until_) return lose();
      renew_if_wanted(now);
      if (!told_risk_ && now >= valid_until_ - nominal_ns_ / 3) {
        told_risk_ = true;
        return news::at_risk;
      }
      return news::none;
    case tenure_phase::leaving:
      if (now >= ask_at_) {
        ask_at_ = time_never;
        const bool is_asked = std::any_of(
            open_.begin(), open_.end(), [&](const auto& item) { return item.what == leave_step_; });
        if (!is_asked) ask(leave_step_, 0, nullptr, now);
      }
      if (now < leave_until_) return news::none;
      phase_ = tenure_phase::over;
      leave_result_ = answer::unknown;
      return news::left;
    case tenure_phase::over:
      break;
  }
  return news::none;
}

}  // namespace mortise::lock
