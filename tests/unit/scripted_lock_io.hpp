// A link that keeps what was asked, so that a test can simulate the server and the clock by hand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lock/gate/gate.hpp"
#include "lock/lease.hpp"
#include "protocol/refusal.hpp"

namespace mortise::testing {

struct sent_request {
  std::uint64_t claim_id;
  std::uint32_t serial;
  lock::step what;
  std::string token;
  std::string secret;
  std::int64_t ttl_ms;
  std::int64_t reserve;
  std::int64_t permits;
  bool with_text;
  std::string value;
  std::string adopted;
};

// Which of the numbers that chance may give is given.
enum class chance_of : std::uint8_t { least, most };

class scripted_lock_io final : public lock::lock_io {
 public:
  bool ask(const lock::step_request& request, const lock::operation* /*by*/) noexcept override {
    if (!is_up || !has_room) return false;
    requests.push_back({request.claim_id, request.serial, request.what, std::string(request.token),
                        std::string(request.secret), request.ttl_ms, request.reserve,
                        request.permits, request.with_text, std::string(request.value),
                        std::string(request.adopted)});
    return true;
  }
  std::string new_owner_token(std::string_view /*label*/, std::int64_t /*ttl_ms*/,
                              lock::claim_reuse reuse) override {
    says_retain = reuse == lock::claim_reuse::retained;
    says_shared = reuse == lock::claim_reuse::shared;
    return "token-" + std::to_string(++tokens_given);
  }
  void on_claim_over(std::uint64_t claim_id) noexcept override { claims_over.push_back(claim_id); }
  lock::grant_secret new_grant_secret() noexcept override {
    lock::grant_secret secret;
    std::fill(secret.begin(), secret.end(), static_cast<char>('a' + secrets_given++));
    return secret;
  }
  std::int64_t random_below(std::int64_t bound) noexcept override {
    return luck == chance_of::least ? 0 : bound - 1;
  }
  [[nodiscard]] outcome problem() const override {
    return is_up ? outcome{} : outcome::of(status::unreachable, "no connection");
  }

  [[nodiscard]] const sent_request& last() const { return requests.back(); }
  [[nodiscard]] std::size_t count() const { return requests.size(); }

  bool is_up = true;
  bool has_room = true;  // false: as if too many requests were open
  chance_of luck = chance_of::least;
  int tokens_given = 0;
  int secrets_given = 0;
  bool says_retain = false;  // the last of them
  bool says_shared = false;
  std::vector<sent_request> requests;
  std::vector<std::uint64_t> claims_over;
};

// The time that tests begin at; not 0, so that a forgotten time shows.
constexpr time_ns start_ns = 1000 * ns_per_s;
constexpr std::int64_t first_token = 1'800'000'000'000'000;

constexpr time_ns ms(std::int64_t count) { return count * ns_per_ms; }

inline lock::grant_message grant_to(const sent_request& waiter, std::int64_t server_us = 0) {
  return {.token = waiter.token,
          .secret = waiter.secret,
          .last_token = first_token,
          .server_us = server_us};
}

inline lock::step_result result_of(lock::answer what) {
  lock::step_result result;
  result.what = what;
  return result;
}

inline lock::step_result granted(std::int64_t last_token = first_token, std::int64_t count = 1,
                                 bool others_wait = false) {
  auto result = result_of(lock::answer::granted);
  result.last_token = last_token;
  result.token_count = count;
  result.others_wait = others_wait;
  return result;
}

inline lock::step_result queued(std::int64_t ttl_ms, std::int64_t place,
                                std::int64_t server_us = 0) {
  auto result = result_of(lock::answer::queued);
  result.ttl_ms = ttl_ms;
  result.place = place;
  result.server_us = server_us;
  return result;
}

inline lock::step_result refused(const std::string& server_text) {
  return protocol::read_error(server_text);
}

}  // namespace mortise::testing
