// The head of a queue of readers, writers or permits while others hold. A process that was killed
// or stopped there delays no waiter for long, and a live one keeps its turn.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/child.hpp"
#include "support/handles.hpp"
#include "support/pages.hpp"
#include "support/server.hpp"

namespace mortise::testing::shared_heads_test {
namespace {

constexpr std::int64_t permits = 3;

// The two kinds, with the whole of the lock and a part of it.
class shared_lock {
 public:
  virtual ~shared_lock() = default;
  virtual mortise_status try_part() = 0;
  virtual mortise_status acquire_part_async(const queue_handle& queue) = 0;
  virtual mortise_status leave_part() = 0;
  virtual mortise_status acquire_whole_async(const queue_handle& queue,
                                             std::int64_t timeout_ms) = 0;
};

class shared_rw final : public shared_lock {
 public:
  // Each has a place of its own at the server, as of another client.
  explicit shared_rw(const client_handle& client) : rw_(open_rw(client, "head", strict().get())) {}
  mortise_status try_part() override { return mortise_rw_read_try(rw_.get(), nullptr); }
  mortise_status acquire_part_async(const queue_handle& queue) override {
    return mortise_rw_read_acquire_async(rw_.get(), queue.get(), 1, patience_ms, nullptr);
  }
  mortise_status leave_part() override { return mortise_rw_read_unlock(rw_.get(), nullptr); }
  mortise_status acquire_whole_async(const queue_handle& queue, std::int64_t timeout_ms) override {
    return mortise_rw_write_acquire_async(rw_.get(), queue.get(), 1, timeout_ms, nullptr);
  }

 private:
  static options_handle strict() {
    options_handle options(mortise_options_new());
    mortise_options_set_fair_strict(options.get(), 1, nullptr);
    return options;
  }
  rw_handle rw_;
};

class shared_permits final : public shared_lock {
 public:
  explicit shared_permits(const client_handle& client)
      : semaphore_(open_semaphore(client, "head", permits)) {}
  mortise_status try_part() override { return mortise_semaphore_try(semaphore_.get(), 1, nullptr); }
  mortise_status acquire_part_async(const queue_handle& queue) override {
    return mortise_semaphore_acquire_async(semaphore_.get(), queue.get(), 1, 1, patience_ms,
                                           nullptr);
  }
  mortise_status leave_part() override {
    return mortise_semaphore_release(semaphore_.get(), nullptr);
  }
  mortise_status acquire_whole_async(const queue_handle& queue, std::int64_t timeout_ms) override {
    return mortise_semaphore_acquire_async(semaphore_.get(), queue.get(), 1, permits, timeout_ms,
                                           nullptr);
  }

 private:
  semaphore_handle semaphore_;
};

enum class kind : std::uint8_t { rw, semaphore };

std::unique_ptr<shared_lock> open_shared(kind which, const client_handle& client) {
  if (which == kind::rw) return std::make_unique<shared_rw>(client);
  return std::make_unique<shared_permits>(client);
}

// A process that waits for the whole lock, and reports how the wait ends.
class waiting_process {
 public:
  waiting_process(kind which, std::int64_t timeout_ms)
      : body_([=](child_end& test) {
          const auto client = open_client(test.receive());
          const auto queue = open_queue(client);
          const auto lock = open_shared(which, client);
          test.send(status_name(lock->acquire_whole_async(queue, timeout_ms)));
          test.send(status_name(next_event(queue, MORTISE_FOREVER).status));
          test.receive();
        }) {}
  // Begins to wait, and returns when the server knows of it.
  void wait_in(test_server& server, kind which) {
    const auto key = queue_key(which);
    const auto before = server.command({"LLEN", key});
    body_.send(server.url());
    ASSERT_EQ("ok", body_.receive());
    ASSERT_TRUE(eventually([&] { return server.command({"LLEN", key}) != before; }));
  }
  // Of the head: its next look sets the time of the queue again, which shows that it knows its
  // place.
  void look(test_server& server, kind which) {
    std::int64_t left_ms = 0;
    ASSERT_TRUE(eventually([&] {
      const auto before_ms =
          std::exchange(left_ms, std::stoll(server.command({"PTTL", queue_key(which)})));
      return before_ms != 0 && left_ms > before_ms;
    }));
  }
  child& body() { return body_; }

 private:
  static std::string queue_key(kind which) {
    return lock_key("head") + (which == kind::rw ? ":rq" : ":sq");
  }

  child body_;
};

class shared_heads : public ::testing::TestWithParam<kind> {
 protected:
  // Has a part of the lock in a process that lives on. After the children were forked.
  void hold() {
    server_ = std::make_unique<test_server>();
    client_ = open_client(server_->url());
    queue_ = open_queue(client_);
    holder_ = open_shared(GetParam(), client_);
    other_ = open_shared(GetParam(), client_);
    ASSERT_EQ(MORTISE_OK, holder_->try_part());
  }
  [[nodiscard]] bool gets_it_by_tries(std::int64_t within_ms = patience_ms) {
    return eventually([&] { return other_->try_part() == MORTISE_OK; }, within_ms);
  }
  // How the wait for a part ends.
  [[nodiscard]] bool is_let_in(std::int64_t within_ms) const {
    const auto seen = next_event(queue_, within_ms);
    return seen.kind == MORTISE_EVENT_ACQUIRED && seen.status == MORTISE_OK;
  }

  std::unique_ptr<test_server> server_;
  client_handle client_;
  queue_handle queue_;
  std::unique_ptr<shared_lock> holder_;
  std::unique_ptr<shared_lock> other_;
};

TEST_P(shared_heads, whoever_was_killed_is_passed_by_a_try) {
  waiting_process dying(GetParam(), MORTISE_FOREVER);
  hold();
  dying.wait_in(*server_, GetParam());
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, other_->try_part());
  dying.body().kill();
  EXPECT_TRUE(gets_it_by_tries());
}

TEST_P(shared_heads, whoever_was_killed_is_passed_by_those_who_wait) {
  waiting_process first(GetParam(), MORTISE_FOREVER);
  waiting_process second(GetParam(), MORTISE_FOREVER);
  hold();
  first.wait_in(*server_, GetParam());
  second.wait_in(*server_, GetParam());
  ASSERT_EQ(MORTISE_OK, other_->acquire_part_async(queue_));
  EXPECT_EQ(MORTISE_EVENT_NONE, next_event(queue_, 100).kind);
  first.body().kill();
  second.body().kill();
  // Less than a waiter slept when it trusted in those before it.
  EXPECT_TRUE(is_let_in(10 * second_ms));
}

TEST_P(shared_heads, whoever_is_stopped_is_passed_by_those_who_wait_and_waits_on) {
  waiting_process stopped(GetParam(), MORTISE_FOREVER);
  hold();
  stopped.wait_in(*server_, GetParam());
  ASSERT_EQ(MORTISE_OK, other_->acquire_part_async(queue_));
  EXPECT_EQ(MORTISE_EVENT_NONE, next_event(queue_, 100).kind);
  stopped.body().pause();
  EXPECT_TRUE(is_let_in(10 * second_ms));
  stopped.body().resume();
  EXPECT_EQ(MORTISE_OK, other_->leave_part());
  EXPECT_EQ(MORTISE_OK, holder_->leave_part());
  EXPECT_EQ("ok", stopped.body().receive());
}

TEST_P(shared_heads, whoever_is_stopped_until_its_timeout_is_over_is_passed_by_tries) {
  constexpr std::int64_t timeout_ms = 5 * second_ms;
  waiting_process stopped(GetParam(), timeout_ms);
  hold();
  stopped.wait_in(*server_, GetParam());
  stopped.look(*server_, GetParam());
  stopped.body().pause();
  const auto begin = boot_now();
  EXPECT_TRUE(gets_it_by_tries());
  while (ms_since(begin) <= timeout_ms) eventually([] { return false; }, 100);
  stopped.body().resume();
  EXPECT_EQ("timed out", stopped.body().receive());
}

// Longer than anything that a silent one is granted.
TEST_P(shared_heads, whoever_lives_is_passed_by_nobody) {
  waiting_process living(GetParam(), MORTISE_FOREVER);
  hold();
  living.wait_in(*server_, GetParam());
  const auto patient = open_shared(GetParam(), client_);
  ASSERT_EQ(MORTISE_OK, patient->acquire_part_async(queue_));
  EXPECT_TRUE(always([&] { return other_->try_part() == MORTISE_NOT_ACQUIRED; }, 7 * second_ms));
  EXPECT_EQ(MORTISE_EVENT_NONE, next_event(queue_, 0).kind);
  EXPECT_FALSE(living.body().has_line());
  EXPECT_EQ(MORTISE_OK, holder_->leave_part());
  EXPECT_EQ("ok", living.body().receive());
}

// The lock is free, and those at the head are granted their turn before it is known that they are
// silent.
TEST_P(shared_heads, hazard_24_each_stopped_waiter_costs_the_next_one_grant) {
  constexpr std::int64_t each_silent_ms = 2 * second_ms;
  constexpr std::int64_t grace_ms = 1500;  // for the waiter that is served, and a loaded machine
  std::vector<std::unique_ptr<waiting_process>> stopped;
  for (int i = 0; i < 3; ++i) {
    stopped.push_back(std::make_unique<waiting_process>(GetParam(), MORTISE_FOREVER));
  }
  hold();
  for (const auto& each : stopped) each->wait_in(*server_, GetParam());
  ASSERT_EQ(MORTISE_OK, other_->acquire_part_async(queue_));
  EXPECT_EQ(MORTISE_EVENT_NONE, next_event(queue_, 100).kind);
  for (const auto& each : stopped) each->body().pause();
  const auto begin = boot_now();
  EXPECT_EQ(MORTISE_OK, holder_->leave_part());
  EXPECT_TRUE(is_let_in(patience_ms));
  EXPECT_LT(ms_since(begin), 3 * each_silent_ms + grace_ms);
}

TEST_P(shared_heads, the_rights_that_the_page_names_are_enough) {
  waiting_process dying(GetParam(), MORTISE_FOREVER);
  waiting_process stopped(GetParam(), MORTISE_FOREVER);
  hold();
  ASSERT_EQ("OK", server_->command(rights_on_page("docs/server.md")));
  for (const auto& rule : further_rights_on_page("docs/server.md")) server_->command(rule);
  const auto as_locker = open_client("unix://locker:PASSWORD@" + server_->socket_path());
  other_ = open_shared(GetParam(), as_locker);
  dying.wait_in(*server_, GetParam());
  stopped.wait_in(*server_, GetParam());
  dying.body().kill();
  stopped.body().pause();
  EXPECT_TRUE(gets_it_by_tries());
  EXPECT_EQ("", server_->command({"ACL", "LOG"})) << "the server has refused something";
}

INSTANTIATE_TEST_SUITE_P(safety, shared_heads, ::testing::Values(kind::rw, kind::semaphore),
                         [](const auto& one) {
                           return one.param == kind::rw ? "rw" : "semaphore";
                         });

}  // namespace
}  // namespace mortise::testing::shared_heads_test
