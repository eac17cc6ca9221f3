// Traces of an acquisition: each row has an event, the actions that follow, and the next state.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deployment/redlock/votes/acquisition.hpp"

namespace mortise::quorum::acquisition_test {

using lock::answer;
using lock::step;
using enum acquisition_state;

inline constexpr std::int64_t lease_ms = 60'000;
inline constexpr std::int64_t high_token = 1'000'000;
inline constexpr std::int64_t free_ms = -2;  // the lease of a lock without an owner

inline constexpr std::array step_names{"try_take",      "acquire", "reacquire", "retake",
                                       "adopt",         "restore", "renew",     "raise",
                                       "release_alone", "release", "cancel",    "set_value"};
inline constexpr std::array answer_names{
    "granted",        "not_free",       "queued",    "renewed",   "not_owner", "released",
    "handed_over",    "others_waiting", "cancelled", "value_set", "refused",   "no_script",
    "unacknowledged", "unknown",        "broken",    "unsent"};

// Plays the transport of an acquisition. Each function is an event, and returns the actions.
class transport {
 public:
  explicit transport(std::size_t servers) : servers_(servers, 1) {}

  std::string request(step what, std::int64_t permits) {
    lock::step_request request;
    request.what = what;
    request.permits = permits;
    request.token = "owner";
    request.ttl_ms = lease_ms;
    if (send(owner_.begin(request, now_))) return sent_;
    return "unreachable" + perform(owner_.on_unreachable(request, now_), nullptr);
  }
  std::string reply(std::size_t number, std::size_t server, const lock::step_result& result) {
    auto& round = number == 0 ? *rounds_.back() : *rounds_.at(number - 1);
    return perform(owner_.on_reply(round, server, result, now_), &round);
  }
  std::string background_reply(step what, std::size_t server, const lock::step_result& result) {
    auto request = owner_.release();
    request.what = what;
    owner_.on_background_reply(server, request, result);
    return {};
  }
  // Whether a request of the round is sent again, to a server that has forgotten its script.
  std::string repeat(std::size_t number) {
    return owner_.is_current(rounds_.at(number - 1)->request) ? "sent again" : "";
  }
  // Whether the proposal of a round is above that of another.
  std::string compare(std::size_t number, std::size_t other) {
    const auto proposal = rounds_.at(number - 1)->request.proposal;
    return proposal > rounds_.at(other - 1)->request.proposal ? "yes" : "no";
  }
  std::string lose(std::string_view servers) {
    unreachable_ = servers;
    return {};
  }
  std::string timeout() {
    if (timeout_at_ == time_never) return "no timeout";
    now_ = std::max(now_, std::exchange(timeout_at_, time_never));
    return perform(owner_.on_timeout(*rounds_.back(), now_), rounds_.back());
  }
  std::string pause(time_ns length) {
    now_ += length;
    return {};
  }
  std::string force() {
    owner_.on_forced(now_);
    return {};
  }
  std::string pending_releases() {
    server_set pending;
    for (std::size_t i = 0; i < servers_.count; ++i) pending.set(i, owner_.lacks_release(i));
    return text_of(pending);
  }
  [[nodiscard]] acquisition_state state() const { return owner_.state(); }

 private:
  // Sends a round to the servers that are reachable. Returns false if they are too few.
  bool send(round& made) {
    rounds_.push_back(&made);
    timeout_at_ = time_never;
    const auto what = made.request.what;
    bool is_possible = true;
    server_set reached;
    for (std::size_t i = 0; i < servers_.count; ++i) {
      if (unreachable_.find(std::to_string(i)) != std::string::npos) {
        is_possible = !owner_.on_unsent(made, i, status::unreachable) && is_possible;
      } else {
        owner_.on_sent(i, what);
        reached.set(i);
      }
    }
    sent_ = step_names.at(static_cast<std::size_t>(what)) + (" to" + text_of(reached));
    return is_possible;
  }
  std::string perform(action next, round* of) {
    timeout_at_ = std::min(timeout_at_, next.timeout_at);
    if (next.is_proposal) {
      if (send(owner_.propose(next.request))) return sent_;
      next = owner_.refuse(*of, *std::move(next.result), now_);
    }
    std::string text;
    if (next.result) text = answer_names.at(static_cast<std::size_t>(next.result->what));
    if (next.servers.none()) return text;
    const auto what = next.request.what;
    for (std::size_t i = 0; i < servers_.count; ++i) {
      if (next.servers.test(i)) owner_.on_sent(i, what);
    }
    const bool is_whole = next.request.permits == lock::exclusive_permits;
    return text + ", " + step_names.at(static_cast<std::size_t>(what)) +
           (is_whole ? " as a writer to" : " to") + text_of(next.servers);
  }
  [[nodiscard]] std::string text_of(const server_set& set) const {
    std::string text;
    for (std::size_t i = 0; i < servers_.count; ++i) {
      if (set.test(i)) text += " " + std::to_string(i);
    }
    return text;
  }

  voters servers_;
  acquisition owner_{servers_};
  time_ns now_ = ns_per_s;
  time_ns timeout_at_ = time_never;
  std::string unreachable_;
  std::string sent_;
  std::vector<round*> rounds_;
};

using event = std::function<std::string(transport&)>;

inline event request(step what, std::int64_t permits = 1) {
  return [=](transport& play) { return play.request(what, permits); };
}
inline event is_above(std::size_t round, std::size_t earlier) {
  return [=](transport& play) { return play.compare(round, earlier); };
}
inline event repetition(std::size_t round) {
  return [=](transport& play) { return play.repeat(round); };
}
inline event loss_of(std::string_view servers) {
  return [=](transport& play) { return play.lose(servers); };
}
inline lock::step_result result_of(answer what, std::int64_t token, std::int64_t ttl_ms) {
  lock::step_result result;
  result.what = what;
  result.last_token = token;
  result.ttl_ms = ttl_ms;
  return result;
}
// To the latest round.
inline event reply(std::size_t server, answer what, std::int64_t token = 0,
                   std::int64_t ttl_ms = 500) {
  return [=](transport& play) { return play.reply(0, server, result_of(what, token, ttl_ms)); };
}
// To a former round.
inline event late_reply(std::size_t round, std::size_t server, answer what, std::int64_t token = 0,
                        std::int64_t ttl_ms = 500) {
  return [=](transport& play) { return play.reply(round, server, result_of(what, token, ttl_ms)); };
}
// To a writer's renewal, from a server with the vote of the reader that it was.
inline event weaker_vote(std::size_t server) {
  return [=](transport& play) {
    auto result = result_of(answer::not_owner, 0, 0);
    result.is_weaker = true;
    return play.reply(0, server, result);
  };
}
inline event background_reply(step request, std::size_t server, answer what) {
  return [=](transport& play) {
    return play.background_reply(request, server, result_of(what, 0, 0));
  };
}
inline event pause(time_ns length) {
  return [=](transport& play) { return play.pause(length); };
}
inline const event timeout = &transport::timeout;
inline const event force = &transport::force;
inline const event pending_releases = &transport::pending_releases;

struct row {
  event in;
  std::string_view actions;
  acquisition_state state;
};

inline void run(std::size_t servers, const std::vector<row>& rows) {
  transport play(servers);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    SCOPED_TRACE("row " + std::to_string(i + 1));
    EXPECT_EQ(rows[i].actions, rows[i].in(play));
    EXPECT_EQ(rows[i].state, play.state());
  }
}

}  // namespace mortise::quorum::acquisition_test
