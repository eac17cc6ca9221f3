// The middle of a tenure: how a hold is kept, and how it is lost.
#include <algorithm>
#include <utility>

#include "lock/lease.hpp"
#include "lock/tenure.hpp"

namespace mortise::lock {

// The lease is the one that the server was asked for, by another handle if this one has taken over.
// Its holder is promised no more than its own.
news tenure::enter_held(time_ns from, std::int64_t lease_ms, const verdict& said, time_ns now) {
  phase_ = tenure_phase::held;
  ask_at_ = time_never;
  is_too_long_ = lease_ms > terms_.lease_ms;
  nominal_ns_ = to_ns(std::min(lease_ms, terms_.lease_ms));
  granted_at_ = from;
  valid_until_ = from + nominal_ns_;
  asked_until_ = valid_until_;
  granted_us_ = said.server_us;
  // Word of somebody who waits can overtake the answer, which is older then (RESP2).
  others_wait_ = others_wait_ || said.others_wait;
  take_tokens(said);
  // An answer that arrives when its lease is over is not a grant (hazard 6).
  if (now >= valid_until_) return lose(reason::expired);
  plan_renewal(from);
  return news::granted;
}

void tenure::take_tokens(const verdict& said) noexcept {
  if (said.token_count == 0 || said.last_token <= last_token_) return;
  next_token_ = said.last_token - said.token_count + 1;
  last_token_ = said.last_token;
}

news tenure::lose(reason why) noexcept {
  loss_ = why;
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

void tenure::keep(const lease_terms& terms, time_ns now) {
  terms_ = terms;
  told_risk_ = false;
  if (std::exchange(is_too_long_, false)) {
    // Nobody was told of a later deadline, so the lease may be shortened (hazard 17).
    renew(terms_.lease_ms, 0, nullptr, now);
  }
  // Also for a hold that is not renewed: a short grant has to be confirmed, unless it is over
  // before.
  renew_at_ = std::min(renew_at_, valid_until_ - nominal_ns_ / 3 * 2);
  renew_if_wanted(now);
}

std::uint32_t tenure::renew(std::int64_t lease_ms, std::int64_t reserve, operation* caller,
                            time_ns now) {
  // Never ask for less than was asked for before: an answer to the earlier question would promise
  // what the later one took back.
  const auto target = std::max(now + to_ns(lease_ms), asked_until_);
  const auto lease = (target - now + ns_per_ms - 1) / ns_per_ms;
  if (!ask({.what = step::renew,
            .ttl_ms = ttl_ms(lease),
            .caller = caller,
            .target = target,
            .reserve = reserve},
           now))
    return 0;
  asked_until_ = target;
  return serial_;
}

void tenure::renew_if_wanted(time_ns now) {
  if (phase_ != tenure_phase::held || now < renew_at_) return;
  if (is_raising()) {
    renew_at_ = time_never;  // planned anew by the answer
    return;
  }
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

bool tenure::is_raising() const noexcept {
  return std::any_of(open_.begin(), open_.end(),
                     [](const auto& item) { return item.what == step::raise; });
}

// A renewal asks for a part until the answer to this is there, and so would undo it: none is begun
// in the meantime.
bool tenure::raise(operation* caller, time_ns now) {
  return ask({.what = step::raise, .caller = caller}, now);
}

std::uint32_t tenure::lower(std::int64_t weight, operation* caller, time_ns now) {
  claim_.weight = weight;
  // A deadline of its own, so that the answer to an earlier renewal is not taken for this one's.
  ++asked_until_;
  return renew(0, 0, caller, now);
}

news tenure::on_held_answer(const open_question& asked, const verdict& said, time_ns now) {
  if (asked.what != step::renew && asked.what != step::raise) return on_late_look(said);
  // The deadline decides, not the answer: once it has passed nothing brings the hold back.
  if (now >= valid_until_) return lose(threat());
  if (said.what == answer::not_owner) {
    return lose(said.is_replaced ? reason::replaced : reason::server_lost);
  }
  return asked.what == step::renew ? on_renew_answer(asked, said, now)
                                   : on_raise_answer(asked, said, now);
}

// A look that a message has overtaken. If the lock was deleted in between it has found us gone, and
// has put us into the queue (hazard 14).
news tenure::on_late_look(const verdict& said) noexcept {
  if (said.what == answer::granted || said.what == answer::unsent) return news::none;
  may_be_queued_ = true;
  return said.what == answer::queued && said.server_us > granted_us_ ? lose(reason::server_lost)
                                                                     : news::none;
}

news tenure::on_raise_answer(const open_question& asked, const verdict& said, time_ns now) {
  if (renew_at_ == time_never) renew_at_ = now;
  switch (said.what) {
    case answer::granted:
      // Undone by a renewal that came behind it, because the script or the caller's patience
      // failed.
      if (renewal_serial_ > asked.serial) return news::not_raised;
      claim_.weight = claim_.limit;
      take_tokens(said);
      return news::raised;
    case answer::not_free:
      return news::not_raised;
    case answer::no_script:
      if (ask({.what = step::raise, .with_text = true}, now)) return news::none;
      [[fallthrough]];
    default:
      // If the server did carry it out, the next renewal, which still asks for a part, undoes it.
      details_ = said.details;
      return news::raise_failed;
  }
}

news tenure::on_renew_answer(const open_question& asked, const verdict& said, time_ns now) {
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
    case answer::no_script:
      // No less than was asked for since: that may have been carried out, if others have brought
      // the script back, and this comes behind it.
      if (ask({.what = step::renew,
               .ttl_ms = ttl_ms((asked_until_ - now) / ns_per_ms + 1),
               .target = asked_until_,
               .reserve = asked.reserve,
               .with_text = true},
              now)) {
        return news::none;
      }
      [[fallthrough]];
    default:
      details_ = said.details;
      return news::renew_failed;
  }
}

}  // namespace mortise::lock
