// What a claim asks, whatever its phase: with which owner token, for which amount, on which
// terms; and which of its questions are open.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "lock/amount.hpp"
#include "lock/lock_io.hpp"

namespace mortise::lock {

// How long a claim is kept. Set by the gate for the handle that holds by it.
struct lease_terms {
  std::int64_t lease_ms = 0;
  bool renews = false;
  time_ns until = time_never;  // not renewed beyond: max_hold, or the end of an unrenewed lease
  std::int64_t drift_ppm = default_drift_ppm;
  std::array<std::int64_t, 2> lifetimes_ms{};  // as in `question`
};

// A question without what is the same for all.
struct step_options {
  step what = step::try_take;
  std::int64_t ttl_ms = 0;
  const operation* by = nullptr;  // who asks, if it is an operation
  time_ns target = 0;             // renew: the deadline that it asks for
  std::int64_t reserve = 0;       // renew: how many fencing tokens to draw
  bool with_text = false;         // the server has forgotten the script
};

struct open_request {
  std::uint32_t serial;
  step what;
  time_ns sent;    // before its first byte
  time_ns target;  // renew: the deadline that it asks for
  std::int64_t ttl_ms;
  std::int64_t reserve;
  std::int64_t lease_ms;  // of the handle that it was asked for
};

class step_requests {
 public:
  step_requests(std::uint64_t claim_id, std::string token, const amount& wanted,
                const lease_terms& terms, lock_io& io);

  // False when it could not be sent. Without a connection on_up() asks again; without room, a
  // little time does: until `retry_at`, if there is one.
  bool ask(const step_options& wanted, time_ns now, time_ns* retry_at = nullptr);
  // An answer: to what, unless that was answered before.
  std::optional<open_request> close(std::uint32_t serial, const step_result& said) noexcept;
  // When to ask again what was refused, or had no room.
  [[nodiscard]] time_ns retry_time(time_ns now, time_ns at_least = 0) noexcept;

  [[nodiscard]] std::size_t open() const noexcept { return open_.size(); }
  [[nodiscard]] std::size_t open(step what) const noexcept;
  // Of the last question that has found its way to the servers; 0 when none has.
  [[nodiscard]] std::uint32_t serial() const noexcept { return serial_; }
  // Whether nothing of this claim can be at the servers: each attempt has an answer that says so.
  [[nodiscard]] bool left_no_trace() const noexcept { return !may_be_there_ && open_.empty(); }

  // Of how many questions the outcome is not known, because their connections broke.
  [[nodiscard]] std::uint32_t broken() const noexcept { return broken_; }

  // What the server said when it said neither yes nor no; until it has said one of them.
  void keep_details(const step_result& said) noexcept;
  void drop_details() noexcept { details_ = {}; }
  [[nodiscard]] const outcome& details() const noexcept { return details_; }
  // Whether it is worth while to ask again.
  [[nodiscard]] bool is_refusal_passing() const noexcept { return is_refusal_passing_; }

  [[nodiscard]] const lease_terms& terms() const noexcept { return terms_; }
  void set_terms(const lease_terms& terms) noexcept { terms_ = terms; }
  [[nodiscard]] const amount& wanted() const noexcept { return wanted_; }
  void set_weight(std::int64_t weight) noexcept { wanted_.weight = weight; }
  // What the server is told for so long a lease, or that of the terms.
  [[nodiscard]] std::int64_t ttl_ms(std::int64_t lease_ms) const noexcept;
  [[nodiscard]] std::int64_t ttl_ms() const noexcept { return ttl_ms(terms_.lease_ms); }
  [[nodiscard]] bool is_granted_by_message() const noexcept { return io_.is_granted_by_message(); }
  std::int64_t random_below(std::int64_t bound) noexcept { return io_.random_below(bound); }
  [[nodiscard]] std::uint64_t claim_id() const noexcept { return claim_id_; }
  [[nodiscard]] const std::string& token() const noexcept { return token_; }

 private:
  lock_io& io_;
  const std::uint64_t claim_id_;
  const std::string token_;
  amount wanted_;
  lease_terms terms_;
  std::uint32_t serial_ = 0;
  std::vector<open_request> open_;
  bool may_be_there_ = false;  // an answer has left something of us at the server, or may have
  std::uint32_t broken_ = 0;
  outcome details_;
  bool is_refusal_passing_ = false;
};

}  // namespace mortise::lock
