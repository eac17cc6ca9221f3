// One claim of this client at the servers that speak for a name, from its first question to its
// release. A pure state machine: it is given answers, messages and the time, and asks through a
// link. Who of this client's handles holds by it is the gate's business.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "lock/link.hpp"
#include "lock/protocol_facts.hpp"

namespace mortise::lock {

enum class tenure_phase : std::uint8_t {
  asking,   // the first answer is not there yet
  queued,   // waiting at the server
  held,     // ours, until valid_until()
  leaving,  // giving up a place or a hold
  over,
};

// What a call to the tenure has brought about; the gate acts on it.
enum class news : std::uint8_t {
  none,
  granted,
  not_free,  // a try that failed; the tenure is over
  refused,   // details() says why; a tenure that is leaving tries on
  renewed,
  renew_failed,  // details(); the old deadline stands
  raised,        // the whole lock is ours, with a new fencing token
  not_raised,    // others have a part of it; the hold is as before
  raise_failed,  // details(); the hold is as before
  lost,
  at_risk,
  left,  // leave_result() says how; the tenure is over
};

// How long a tenure is kept. Set by the gate for the handle that holds by it.
struct lease_terms {
  std::int64_t lease_ms = 0;
  bool renews = false;
  time_ns until = time_never;  // not renewed beyond: max_hold, or the end of an unrenewed lease
  std::int64_t drift_ppm = default_drift_ppm;
};

// How much of the lock is wanted or held, of how much there is.
struct claim {
  std::int64_t weight = 1;
  std::int64_t limit = 1;
  std::array<std::int64_t, 2> lifetimes_ms{};  // as in `question`
};

// How a tenure that does not get the lock at once goes on. The two numbers are for protocols
// without a queue.
struct patience {
  bool waits = false;
  std::int64_t poll_interval_ms = 100;
  std::int64_t poll_attempts = -1;  // how often it asks at most; -1 without a limit
};

class tenure {
 public:
  tenure(std::uint64_t id, std::string token, const protocol_facts& protocol, const claim& wanted,
         const lease_terms& terms, const patience& patience, link& world);

  // Begins to ask. `directly` skips the cheap try because the lock is likely taken.
  void start(bool directly, operation* caller, time_ns now);
  // An answer to one of its questions.
  news on_answer(std::uint32_t serial, const verdict& said, time_ns now);
  // A grant by message.
  news on_grant(std::int64_t last_token, std::int64_t server_us, bool others_wait, time_ns now);
  // "You are the head of the queue": look again when the present lease ends.
  void on_head(std::int64_t ttl_ms, time_ns now);
  // "It was released": said on a channel to all who may wait for it.
  void on_free(time_ns now);
  // "Somebody waits for your release".
  void on_wanted() noexcept { others_wait_ = true; }
  // The connection is there (again): makes every open matter definite (hazards 15 and 16).
  void on_up(time_ns now);
  news on_timer(time_ns now);
  [[nodiscard]] time_ns next_timer() const noexcept;

  // Asks for at least `lease_ms` from now, and for tokens. Returns the question's serial, or 0 when
  // it could not be sent.
  std::uint32_t renew(std::int64_t lease_ms, std::int64_t reserve, operation* caller, time_ns now);
  // Takes the whole of what it has a part of, if nobody else has one. False when it was not sent.
  bool raise(operation* caller, time_ns now);
  // Keeps only a part of the whole. It takes effect with the renewal that is asked for here, or
  // with any later one. The question's serial, or 0.
  std::uint32_t lower(std::int64_t weight, operation* caller, time_ns now);
  // A new holder's terms: plans its renewals, and confirms the grant now if they want it.
  void keep(const lease_terms& terms, time_ns now);
  // Other terms for the present holder, from its next renewal on.
  void amend(const lease_terms& terms) noexcept { terms_ = terms; }
  // Gives up whatever it has or waits for. It is over at once when nothing can be at the server.
  void leave(operation* caller, time_ns now);
  // No second question can follow: what is being released in the belief that nobody waits is handed
  // over to whoever does.
  void leave_at_once(time_ns now);
  // Another handle of this client takes over what is asked or waited for.
  void take_over(const lease_terms& terms, const patience& patience) noexcept {
    terms_ = terms;
    patience_ = patience;
  }
  // Asks the same again a little later: the server's refusal is a passing one.
  void retry_later(time_ns now, time_ns at_least = 0);

  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] tenure_phase phase() const noexcept { return phase_; }
  [[nodiscard]] const std::string& token() const noexcept { return token_; }
  [[nodiscard]] std::int64_t weight() const noexcept { return claim_.weight; }
  [[nodiscard]] time_ns valid_until() const noexcept { return valid_until_; }
  // The latest deadline that was ever asked for.
  [[nodiscard]] time_ns asked_until() const noexcept { return asked_until_; }
  // When the grant counts from for who has it: what is not renewed ends a lease later.
  [[nodiscard]] time_ns granted_at() const noexcept { return granted_at_; }
  [[nodiscard]] const lease_terms& terms() const noexcept { return terms_; }
  [[nodiscard]] bool others_wait() const noexcept { return others_wait_; }
  // Whether at_risk was said since the hold was last prolonged.
  [[nodiscard]] bool is_risk_told() const noexcept { return told_risk_; }
  [[nodiscard]] const outcome& details() const noexcept { return details_; }
  // Of a refused acquire: whether it is worth while to ask again.
  [[nodiscard]] bool is_refusal_passing() const noexcept { return is_refusal_passing_; }
  [[nodiscard]] answer leave_result() const noexcept { return leave_result_; }
  // Where it stood in the queue when the server last told it; 0 is the head, -1 not told.
  [[nodiscard]] std::int64_t place() const noexcept { return place_; }
  // Why it was lost; and why it will be, unless a renewal comes in time.
  [[nodiscard]] reason loss() const noexcept { return loss_; }
  [[nodiscard]] reason threat() const noexcept {
    const bool is_over = terms_.renews && terms_.until <= valid_until_ + ns_per_ms;
    return is_over ? reason::max_hold : reason::expired;
  }
  // Whether any question has found its way to the servers.
  [[nodiscard]] bool has_asked() const noexcept { return serial_ != 0; }
  // Whether the server may have been told of the leave.
  [[nodiscard]] bool is_leave_sent() const noexcept { return leave_unknown_ || !open_.empty(); }
  // Whether a question is open, so that the outcome of giving up now is not known.
  [[nodiscard]] bool is_unanswered() const noexcept { return !open_.empty() || was_broken_; }
  // The share of the present lease that is left when a third is: the margin for passing it on.
  [[nodiscard]] bool is_fresh(time_ns now) const noexcept {
    return now < valid_until_ - nominal_ns_ / 3;
  }
  [[nodiscard]] bool has_token() const noexcept { return next_token_ <= last_token_; }
  // The next fencing token; above every token that was drawn before this tenure.
  std::int64_t take_token() noexcept { return next_token_++; }

 private:
  struct open_question {
    std::uint32_t serial;
    step what;
    time_ns sent;    // before its first byte
    time_ns target;  // renew: the deadline that it asks for
    std::int64_t ttl_ms;
    std::int64_t reserve;
    std::int64_t lease_ms;  // of the handle that it was asked for
  };

  // A question without what is the same for all.
  struct inquiry {
    step what = step::try_take;
    std::int64_t ttl_ms = 0;
    operation* caller = nullptr;
    time_ns target = 0;        // renew: the deadline that it asks for
    std::int64_t reserve = 0;  // renew: how many fencing tokens to draw
    bool with_text = false;    // the server has forgotten the script
  };
  bool ask(const inquiry& wanted, time_ns now);
  // Where the attempt stands, and its grant if it can be had.
  bool ask_again(time_ns now) { return ask({.what = again(), .ttl_ms = lease_ttl_ms()}, now); }
  bool send(const question& asked, operation* caller, const open_question& open) noexcept;
  std::optional<open_question> close_question(std::uint32_t serial);
  void note_trace(step asked, answer said) noexcept;
  news on_acquire_answer(const open_question& asked, const verdict& said, time_ns now);
  news on_not_free(const open_question& asked, const verdict& said, time_ns now);
  news on_held_answer(const open_question& asked, const verdict& said, time_ns now);
  news on_renew_answer(const open_question& asked, const verdict& said, time_ns now);
  news on_raise_answer(const open_question& asked, const verdict& said, time_ns now);
  news on_leave_answer(const open_question& asked, const verdict& said, time_ns now);
  news enter_held(time_ns from, std::int64_t lease_ms, const verdict& said, time_ns now);
  news on_late_look(const verdict& said) noexcept;
  news lose(reason why) noexcept;
  void take_tokens(const verdict& said) noexcept;
  void plan_poll(const verdict& said, time_ns now) noexcept;
  void plan_attempt(const verdict& said, time_ns now) noexcept;
  // The step for a token that the server may know already.
  [[nodiscard]] step again() const noexcept {
    return patience_.waits ? step::reacquire : step::retake;
  }
  void plan_renewal(time_ns from) noexcept;
  void renew_if_wanted(time_ns now);
  [[nodiscard]] time_ns wanted_until(time_ns now) const noexcept;
  [[nodiscard]] std::int64_t ttl_ms(std::int64_t lease_ms) const noexcept;
  [[nodiscard]] std::int64_t lease_ttl_ms() const noexcept;
  [[nodiscard]] bool is_raising() const noexcept;

  link& world_;
  const std::uint64_t id_;
  const std::string token_;
  const protocol_facts& protocol_;
  claim claim_;
  lease_terms terms_;
  const std::int64_t
      grant_ms_;  // the lease of a grant by message, which the token tells the server
  patience patience_;
  tenure_phase phase_ = tenure_phase::asking;
  std::uint32_t serial_ = 0;
  std::uint32_t renewal_serial_ = 0;  // of the last renewal that was asked for
  std::vector<open_question> open_;
  bool was_broken_ = false;    // the last question was sent, but its connection broke
  bool may_be_there_ = false;  // an answer has left something of us at the server, or may have

  // Asking and queued.
  time_ns ask_at_ = time_never;  // the next look at the server (also when leaving)
  time_ns reference_ns_ = 0;  // when a question that the server answered (or the first) was sent,
  std::int64_t reference_us_ = 0;  // and the server's time in that answer, 0 without one
  bool told_free_ = false;         // a message has said so since the open question was sent
  time_ns told_head_at_ = -1;      // when a message said that it is the head of the queue,
  time_ns head_look_at_ = 0;       // and when it was to look because of that

  // Held.
  time_ns granted_at_ = 0;
  std::int64_t granted_us_ = 0;  // the server's time of the grant
  bool may_be_queued_ = false;   // a look came too late, and may have put us into the queue again
  time_ns valid_until_ = 0;
  time_ns nominal_ns_ = 0;    // the length of the present lease
  bool is_too_long_ = false;  // the server keeps the lock for longer than its holder wants
  time_ns asked_until_ = 0;   // the latest deadline that was ever asked for
  time_ns renew_at_ = time_never;
  bool told_risk_ = false;
  bool others_wait_ = false;
  std::int64_t next_token_ = 1;
  std::int64_t last_token_ = 0;

  // Leaving.
  step leave_step_ = step::release;
  time_ns left_at_ = 0;
  time_ns leave_until_ = 0;  // after this the server has forgotten the claim by itself
  bool leave_unknown_ = false;
  answer leave_result_ = answer::unknown;
  outcome details_;
  bool is_refusal_passing_ = false;

  std::int64_t place_ = -1;
  reason loss_ = reason::none;
};

}  // namespace mortise::lock
