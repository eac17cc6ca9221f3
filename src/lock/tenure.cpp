#include "lock/tenure.hpp"

#include <utility>

#include "lock/lease.hpp"

namespace mortise::lock {

tenure::tenure(std::uint64_t id, std::string token, const protocol_facts& protocol,
               const portion& wanted, const lease_terms& terms, const wait_terms& wait, link& world)
    : questions_(id, std::move(token), wanted, terms, world),
      attempt_(protocol, wait, grant_ms(terms.lease_ms)) {}

news tenure::enter(news what) noexcept {
  switch (what) {
    case news::granted:
      phase_ = tenure_phase::held;
      break;
    case news::not_free:
    case news::lost:
    case news::left:
      phase_ = tenure_phase::over;
      break;
    default:
      break;
  }
  return what;
}

news tenure::on_answer(std::uint32_t serial, const step_result& said, time_ns now) {
  const auto asked = questions_.close(serial, said);
  if (!asked) return news::none;
  if (said.what != answer::broken && said.what != answer::unsent) trip_ns_ = now - asked->sent;
  switch (phase_) {
    case tenure_phase::asking:
    case tenure_phase::queued: {
      const auto what = attempt_.on_answer(*asked, said, questions_, now);
      if (what != news::granted) return enter(what);
      hold_.on_acknowledged(asked->serial);
      return enter(hold_.begin(asked->sent, asked->lease_ms, said, questions_, now));
    }
    case tenure_phase::held:
      return enter(hold_.on_answer(*asked, said, questions_, now));
    case tenure_phase::leaving:
      return enter(leave_.on_answer(*asked, said, questions_, now));
    case tenure_phase::over:
      break;
  }
  return news::none;
}

news tenure::on_grant(std::int64_t last_token, std::int64_t server_us, bool others_wait,
                      time_ns now) {
  if (phase_ != tenure_phase::asking) return news::none;
  const auto from = attempt_.on_grant(server_us, questions_, now);
  if (!from) return news::none;
  step_result said;
  said.last_token = last_token;
  said.server_us = server_us;
  said.token_count = 1;
  said.others_wait = others_wait;
  const auto what = hold_.begin(*from, attempt_.grant_ms(), said, questions_, now);
  hold_.count_from(now);
  return enter(what);
}

void tenure::on_free(time_ns now) {
  if (phase_ == tenure_phase::asking) attempt_.on_free(questions_, now);
}

void tenure::on_head(std::int64_t ttl_ms, time_ns now) {
  if (phase_ == tenure_phase::asking) attempt_.on_head(ttl_ms, questions_, now);
}

void tenure::on_up(time_ns now) {
  switch (phase_) {
    case tenure_phase::asking:
    case tenure_phase::queued:
      return attempt_.on_up(questions_, now);
    case tenure_phase::held:
      return hold_.on_up(questions_, now);
    case tenure_phase::leaving:
      return leave_.on_up(questions_, now);
    case tenure_phase::over:
      break;
  }
}

time_ns tenure::next_timer() const noexcept {
  switch (phase_) {
    case tenure_phase::asking:
    case tenure_phase::queued:
      return attempt_.next_timer();
    case tenure_phase::held:
      return hold_.next_timer();
    case tenure_phase::leaving:
      return leave_.next_timer();
    case tenure_phase::over:
      break;
  }
  return time_never;
}

news tenure::on_timer(time_ns now) {
  switch (phase_) {
    case tenure_phase::asking:
    case tenure_phase::queued:
      attempt_.on_timer(questions_, now);
      break;
    case tenure_phase::held:
      return enter(hold_.on_timer(questions_, now));
    case tenure_phase::leaving:
      return enter(leave_.on_timer(questions_, now));
    case tenure_phase::over:
      break;
  }
  return news::none;
}

void tenure::leave(const operation* by, time_ns now) {
  if (phase_ == tenure_phase::leaving) return;
  const bool was_held = phase_ != tenure_phase::asking;
  if (!was_held && questions_.left_no_trace()) {
    phase_ = tenure_phase::over;
    return;
  }
  phase_ = tenure_phase::leaving;
  // A look that was overtaken by a message may still enqueue us, if the grant has lapsed by then.
  const bool may_queue = hold_.may_be_queued() || questions_.open() > questions_.open(step::renew);
  auto what = step::cancel;
  if (was_held && !may_queue) what = hold_.others_wait() ? step::release : step::release_alone;
  leave_.begin(what, hold_.valid_until(), by, questions_, now);
}

void tenure::leave_at_once(time_ns now) {
  if (phase_ == tenure_phase::leaving) leave_.at_once(questions_, now);
}

}  // namespace mortise::lock
