// The requests of a claim in all its phases: its owner token and secret, its amount, its terms, and
// the open requests.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.hpp"
#include "lock/amount.hpp"
#include "lock/lock_io.hpp"
#include "lock/renewal_end.hpp"

namespace mortise::lock {

// How long a claim is kept. The gate sets the terms of the handle that holds by the claim.
struct lease_terms {
  std::int64_t lease_ms = 0;
  bool renews = false;
  renewal_end end;
  std::int64_t drift_ppm = default_drift_ppm;
  std::array<std::int64_t, 2> lifetimes_ms{};  // as in `step_request`
};

// The fields of a request that differ from step to step.
struct step_options {
  step what = step::try_take;
  std::int64_t ttl_ms = 0;
  const operation* requester = nullptr;
  time_ns target = 0;           // renew: the requested deadline
  std::int64_t reserve = 0;     // renew: how many fencing tokens to draw
  bool with_text = false;       // the server has forgotten the script
  std::string_view value = {};  // set_value
};

struct open_request {
  std::uint32_t serial;
  step what;
  time_ns sent;    // the time before its first byte
  time_ns target;  // renew: the requested deadline
  std::int64_t ttl_ms;
  std::int64_t reserve;
  std::int64_t lease_ms;  // of the handle that needs it
};

class step_requests {
 public:
  step_requests(std::uint64_t claim_id, std::string token, const lock::amount& requested,
                const lease_terms& terms, lock_io& io);
  ~step_requests() { io_.on_claim_over(claim_id_); }
  step_requests(const step_requests&) = delete;
  step_requests& operator=(const step_requests&) = delete;

  // Returns false if not sent. Without a connection, on_up() asks again. Without room, the caller
  // asks again at `retry_at`, if given.
  bool ask(const step_options& options, time_ns now, time_ns* retry_at = nullptr);
  // Takes a reply, and returns its request unless that was answered before.
  std::optional<open_request> close(std::uint32_t serial, const step_result& result) noexcept;
  // When to retry a request that was refused or had no room.
  [[nodiscard]] time_ns retry_time(time_ns now, time_ns at_least = 0) noexcept;

  // The requests without a reply, except those for values, which change no hold.
  [[nodiscard]] std::size_t open() const noexcept { return open_.size() - open(step::set_value); }
  [[nodiscard]] std::size_t open(step what) const noexcept;
  // The latest deadline that an open renewal asks for, or 0.
  [[nodiscard]] time_ns latest_target() const noexcept;
  // The serial of the last request that was sent to the servers, or 0.
  [[nodiscard]] std::uint32_t serial() const noexcept { return serial_; }
  // Whether nothing of this claim can be at the servers, because each request for the lock has a
  // reply that shows it.
  [[nodiscard]] bool left_no_trace() const noexcept { return !may_have_trace_ && open_.empty(); }

  // How many requests have an unknown result, because their connections broke.
  [[nodiscard]] std::uint32_t broken() const noexcept { return broken_; }

  // The details of an inconclusive reply, until a conclusive one.
  void keep_details(const step_result& result) noexcept;
  void drop_details() noexcept { details_ = {}; }
  [[nodiscard]] const outcome& details() const noexcept { return details_; }
  // Whether a retry is worthwhile.
  [[nodiscard]] bool is_refusal_passing() const noexcept { return is_refusal_passing_; }

  [[nodiscard]] const lease_terms& terms() const noexcept { return terms_; }
  void set_terms(const lease_terms& terms) noexcept { terms_ = terms; }
  void lengthen_lease(std::int64_t lease_ms) noexcept {
    terms_.lease_ms = std::max(terms_.lease_ms, lease_ms);
  }
  [[nodiscard]] const lock::amount& amount() const noexcept { return amount_; }
  void set_permits(std::int64_t permits) noexcept { amount_.permits = permits; }
  // The lifetime at the server for this lease, or for that of the terms.
  [[nodiscard]] std::int64_t ttl_ms(std::int64_t lease_ms) const noexcept;
  [[nodiscard]] std::int64_t ttl_ms() const noexcept { return ttl_ms(terms_.lease_ms); }
  [[nodiscard]] bool is_granted_by_message() const noexcept { return io_.is_granted_by_message(); }
  std::int64_t random_below(std::int64_t bound) noexcept { return io_.random_below(bound); }
  [[nodiscard]] std::uint64_t claim_id() const noexcept { return claim_id_; }
  [[nodiscard]] const std::string& token() const noexcept { return token_; }
  // Whether a grant by message has the secret, at most once: from then on others may know it. No
  // publisher can know it before (hazard 32).
  bool take_secret(std::string_view given) noexcept;
  // The claim continues the exported hold with this owner token.
  void adopt(std::string_view exported) { adopted_ = exported; }
  [[nodiscard]] bool adopts() const noexcept { return !adopted_.empty(); }
  // Others may know the secret: a grant was sent while the client was not connected.
  void give_up_secret() noexcept { is_secret_known_ = true; }

 private:
  [[nodiscard]] std::string_view secret() const noexcept {
    return secret_ ? std::string_view(secret_->data(), secret_->size()) : std::string_view();
  }

  lock_io& io_;
  const std::uint64_t claim_id_;
  const std::string token_;
  std::optional<grant_secret> secret_;  // none before the first request for a place in a queue
  bool is_secret_known_ = false;
  std::string adopted_;
  lock::amount amount_;
  lease_terms terms_;
  std::uint32_t serial_ = 0;
  std::vector<open_request> open_;
  bool may_have_trace_ = false;  // a request has left, or may have left, something at the server
  std::uint32_t broken_ = 0;
  outcome details_;
  bool is_refusal_passing_ = false;
};

}  // namespace mortise::lock
