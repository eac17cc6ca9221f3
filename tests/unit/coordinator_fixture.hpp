// A coordinator over three servers. The test decides their replies, which can be late, lost or out
// of order.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "deployment/redlock/redlock_coordinator.hpp"
#include "support/quiet_deployment.hpp"

namespace mortise::testing {

constexpr std::int64_t long_ms = 60'000;
constexpr std::int64_t some_token = 1'800'000'000'000'000;

// What a server was asked. It is answered by the test.
struct served_request {
  mortise::deployment::lock_request* on = nullptr;
  mortise::deployment::lock_requester* by = nullptr;
  lock::step_request what;
  std::string token;
  bool is_answered = false;
};

class scripted_server final : public quiet_deployment {
 public:
  std::unique_ptr<mortise::deployment::lock_request> new_request(
      mortise::deployment::lock_requester& asker,
      const mortise::deployment::named_key& /*lock*/) override {
    return std::make_unique<scripted_request>(*this, asker);
  }

  // Answers the last request.
  void answer_last(lock::answer what, std::int64_t token = 0, std::int64_t ttl_ms = 0) {
    answer_at(count() - 1, what, token, ttl_ms);
  }
  void answer_at(std::size_t place, lock::answer what, std::int64_t token = 0,
                 std::int64_t ttl_ms = 0) {
    served_request to;
    {
      const std::lock_guard guard(mutex_);
      ASSERT_LT(place, asked_.size());
      ASSERT_FALSE(std::exchange(asked_[place].is_answered, true));
      to = asked_[place];
    }
    lock::step_result result;
    result.what = what;
    result.last_token = token;
    result.ttl_ms = ttl_ms;
    result.details.is_retryable = result.is_passing = is_refusal_retryable;
    result.wait_ms = refuses_for_ms;
    result.server_us = clock_us;
    to.by->on_result(*to.on, result, boot_now() + late_ns);
  }
  [[nodiscard]] std::size_t count() const {
    const std::lock_guard guard(mutex_);
    return asked_.size();
  }
  // All that are open, in the same way.
  void answer_all(lock::answer what) {
    for (std::size_t place = 0; place < count(); ++place) {
      if (!is_answered(place)) answer_at(place, what);
    }
  }
  [[nodiscard]] bool is_answered(std::size_t place) const {
    const std::lock_guard guard(mutex_);
    return asked_[place].is_answered;
  }
  [[nodiscard]] lock::step_request at(std::size_t place) const {
    const std::lock_guard guard(mutex_);
    return asked_[place].what;
  }
  [[nodiscard]] std::string token_at(std::size_t place) const {
    const std::lock_guard guard(mutex_);
    return asked_[place].token;
  }
  [[nodiscard]] lock::step_request last() const {
    const std::lock_guard guard(mutex_);
    return asked_.back().what;
  }
  std::atomic<bool> is_unreachable{false};
  std::atomic<bool> lacks_memory{false};
  std::atomic<bool> lacks_room{false};
  bool is_refusal_retryable = false;
  std::int64_t refuses_for_ms = 0;
  std::int64_t clock_us = 0;                               // 0: not in the reply
  time_ns late_ns = 0;                                     // the results of its replies
  std::atomic<const lock::operation*> operation{nullptr};  // of the last request

 private:
  class scripted_request final : public mortise::deployment::lock_request {
   public:
    scripted_request(scripted_server& of, mortise::deployment::lock_requester& by)
        : of_(of), by_(by) {}
    status send(const lock::step_request& request, const protocol::table& /*rules*/,
                const protocol::key_set& /*keys*/, const lock::operation* by) noexcept override {
      of_.operation = by;
      if (of_.is_unreachable) return status::unreachable;
      if (of_.lacks_memory) return status::no_memory;
      if (of_.lacks_room) return status::limit;
      const std::lock_guard guard(of_.mutex_);
      of_.asked_.push_back({this, &by_, request, std::string(request.token), false});
      return status::ok;
    }

   private:
    scripted_server& of_;
    mortise::deployment::lock_requester& by_;
  };

  mutable std::mutex mutex_;
  std::vector<served_request> asked_;
};

class three_servers : public ::testing::Test,
                      public mortise::deployment::lock_requester,
                      public deployment::redlock_coordinator::listener {
 protected:
  three_servers() {
    for (auto& server : servers) {
      auto made = std::make_unique<scripted_server>();
      server = made.get();
      group.add("s", std::move(made));
    }
    EXPECT_TRUE(loop.start().ok());
    votes.emplace(group, group.size(), loop,
                  static_cast<deployment::redlock_coordinator::listener&>(*this));
    asker = std::make_unique<deployment::quorum_request>(*votes, *this,
                                                         deployment::named_key{"a lock", {}});
  }
  // While this is whole: its timer may run just now.
  void TearDown() override {
    votes->close();
    loop.stop();
  }
  status ask(lock::step what, std::int64_t ttl_ms = long_ms, const lock::operation* by = nullptr) {
    return ask_for("owner", what, ttl_ms, by);
  }
  status ask_for(std::string_view owner, lock::step what, std::int64_t ttl_ms = long_ms,
                 const lock::operation* by = nullptr) {
    lock::step_request request;
    request.what = what;
    request.token = owner;
    request.ttl_ms = ttl_ms;
    return asker->send(request, protocol::ballot(), protocol::ballot().keys("a lock"), by);
  }
  void take() {
    ASSERT_EQ(status::ok, ask(lock::step::try_take));
    for (auto* server : servers) server->answer_last(lock::answer::granted);
    ASSERT_EQ(lock::answer::granted, next().what);
  }
  // Servers 0 and 1 answer. Two of three are a quorum.
  void take_and_release(std::string_view owner) {
    ASSERT_EQ(status::ok, ask_for(owner, lock::step::try_take));
    for (const std::size_t there : {0U, 1U}) servers[there]->answer_last(lock::answer::granted);
    ASSERT_EQ(lock::answer::granted, next().what);
    release(owner);
  }
  void release(std::string_view owner) {
    ASSERT_EQ(status::ok, ask_for(owner, lock::step::release));
    for (const std::size_t there : {0U, 1U}) servers[there]->answer_last(lock::answer::released);
    ASSERT_EQ(lock::answer::released, next().what);
  }
  void on_result(mortise::deployment::lock_request& /*answered*/, const lock::step_result& result,
                 time_ns /*now*/) noexcept override {
    const std::lock_guard guard(mutex);
    results.push_back(result);
  }
  void on_retry_due(const deployment::name_set& names, time_ns /*now*/) noexcept override {
    if (names.has({"a lock", {}}) && !names.has({"another", {}})) ++retries_due;
  }
  // Whether it is so within a time that no machine needs.
  template <class Condition>
  static bool becomes(Condition&& condition) {
    const auto end = boot_now() + 20 * ns_per_s;
    while (!condition()) {
      if (boot_now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }
  // Waits for the next result.
  lock::step_result next() {
    EXPECT_TRUE(becomes([&] { return has_more(); }));
    const std::lock_guard guard(mutex);
    return seen < results.size() ? results[seen++] : lock::step_result();
  }
  bool has_more() {
    const std::lock_guard guard(mutex);
    return results.size() > seen;
  }

  net::reactor loop;
  std::array<scripted_server*, 3> servers{};
  deployment::server_group group{"server"};
  std::optional<deployment::redlock_coordinator> votes;
  std::unique_ptr<deployment::quorum_request> asker;
  std::mutex mutex;
  std::vector<lock::step_result> results;
  std::size_t seen = 0;
  std::atomic<int> retries_due{0};
};

using coordinators = three_servers;

}  // namespace mortise::testing
