#include "lock/tenure.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "lock/lease.hpp"

namespace mortise::lock {

tenure::tenure(std::uint64_t id, std::string token, const protocol_facts& protocol,
               const claim& wanted, const lease_terms& terms, const patience& patience, link& world)
    : world_(world),
      id_(id),
      token_(std::move(token)),
      protocol_(protocol),
      claim_(wanted),
      terms_(terms),
      grant_ms_(lock::grant_ms(terms.lease_ms)),
      patience_(patience) {}

std::int64_t tenure::ttl_ms(std::int64_t lease_ms) const noexcept {
  return server_ttl_ms(lease_ms, terms_.drift_ppm);
}

std::int64_t tenure::lease_ttl_ms() const noexcept { return ttl_ms(terms_.lease_ms); }

// ---- questions ------------------------------------------------------------------------------

bool tenure::ask(const inquiry& wanted, time_ns now) {
  question asked;
  asked.tenure = id_;
  asked.serial = serial_ + 1;
  asked.what = wanted.what;
  asked.token = token_;
  asked.ttl_ms = wanted.ttl_ms;
  asked.reserve = wanted.reserve;
  asked.weight = claim_.weight;
  asked.limit = claim_.limit;
  asked.lifetimes_ms = claim_.lifetimes_ms;
  asked.with_text = wanted.with_text;
  if (!send(asked, wanted.caller,
            {asked.serial, wanted.what, now, wanted.target, wanted.ttl_ms, wanted.reserve,
             terms_.lease_ms})) {
    // Without a connection on_up() asks again; without room, a little time does.
    if (world_.problem().ok()) retry_later(now);
    return false;
  }
  ++serial_;
  if (serial_ == 1) reference_ns_ = now;
  if (wanted.what == step::renew) renewal_serial_ = serial_;
  return true;
}

// Has a place for the answer before anything is sent.
bool tenure::send(const question& asked, operation* caller, const open_question& open) noexcept
    try {
  open_.push_back(open);
  if (world_.ask(asked, caller)) return true;
  open_.pop_back();
  return false;
} catch (const std::bad_alloc&) {
  return false;
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
  const bool is_attempt = asked == step::try_take || asked == step::acquire ||
                          asked == step::reacquire || asked == step::retake;
  if (is_attempt && said != answer::not_free && said != answer::refused &&
      said != answer::no_script && said != answer::unsent) {
    may_be_there_ = true;
  }
}

void tenure::start(bool directly, operation* caller, time_ns now) {
  // Where the cheap way is a script too, there is no point in asking twice.
  const bool is_queueing = patience_.waits && protocol_.how == wait_method::queue &&
                           (directly || !protocol_.is_plain_string);
  ask({.what = is_queueing ? step::acquire : step::try_take,
       .ttl_ms = lease_ttl_ms(),
       .caller = caller},
      now);
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
      if (open_.empty()) ask_again(now);
      break;
    case tenure_phase::held:
      // Finds out at once whether the hold has survived, also one that is not to be prolonged.
      renew_at_ = now;
      renew_if_wanted(now);
      if (open_.empty()) renew(0, 0, nullptr, now);
      break;
    case tenure_phase::leaving:
      if (open_.empty()) ask({.what = leave_step_}, now);
      break;
    case tenure_phase::over:
      break;
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
      if (open_.empty()) ask_again(now);
      return news::none;
    case tenure_phase::held:
      if (now >= valid_until_) return lose(threat());
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
        if (!is_asked) ask({.what = leave_step_}, now);
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
