// Requests about many locks at one server: which of them travel together, and in which order.
#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "deployment/api/open.hpp"
#include "protocol/table.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::renewal_batches_test {
namespace {

using lock::answer;
using lock::step;

class silent_listener final : public deployment::listener {
  void on_up(const deployment::name_set& /*names*/, time_ns /*now*/) noexcept override {}
  void on_unacknowledged(const deployment::name_set& /*names*/, time_ns /*now*/) noexcept override {
  }
  void on_message(std::string_view /*text*/, time_ns /*now*/) noexcept override {}
  void on_channel_message(std::string_view /*channel*/) noexcept override {}
  void on_listening(std::string_view /*channel*/) noexcept override {}
  void on_note(log_subject /*what*/, const outcome& /*details*/) noexcept override {}
};

class renewal_batches : public ::testing::Test, private deployment::lock_requester {
 protected:
  renewal_batches() {
    EXPECT_TRUE(loop_.start().ok());
    settings terms;
    deployment::maker make;
    EXPECT_TRUE(deployment::read_url(server_.url(), terms, make).ok());
    servers_ = make(loop_, terms, "0123456789abcdef", listener_);
    EXPECT_TRUE(servers_->open(boot_now() + 20 * ns_per_s).ok());
    server_.command({"CONFIG", "RESETSTAT"});
  }
  ~renewal_batches() override { servers_->close(0); }

  // Runs this on the I/O thread, as its timers do, and waits for the results of all requests.
  void run(std::function<void()> body) {
    struct bound final : net::task {
      void run() noexcept override { body(); }
      std::function<void()> body;
    } task;
    bool has_run = false;
    task.body = [&] {
      body();
      const std::lock_guard guard(mutex_);
      has_run = true;
      changed_.notify_all();
    };
    loop_.post(task);
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(20),
                                  [&] { return has_run && results_.size() == requests_.size(); }));
    loop_.cancel(task);
  }
  // The results come by the number of the request.
  std::size_t ask(const std::string& name, step what, std::int64_t ttl_ms = 60'000,
                  bool with_text = false) {
    const auto keys = protocol::queued().keys(name);
    requests_.push_back(servers_->new_request(*this, {name, keys.front()}));
    lock::step_request request;
    request.what = what;
    request.token = owner;
    request.ttl_ms = ttl_ms;
    request.with_text = with_text;
    request.sent_at = boot_now();
    requests_.back()->serial = static_cast<std::uint32_t>(requests_.size() - 1);
    EXPECT_EQ(requests_.back()->send(request, protocol::queued(), keys, nullptr), status::ok);
    return requests_.size() - 1;
  }
  answer result(std::size_t number) {
    const std::lock_guard guard(mutex_);
    return results_[number].what;
  }
  void hold(const std::string& name) {
    server_.command({"SET", lock_key(name), owner, "PX", "30000"});
  }
  // How often the server has run scripts.
  int calls() {
    const auto text = server_.command({"INFO", "commandstats"});
    const std::string start = "cmdstat_evalsha:calls=";
    const auto at = text.find(start);
    return at == std::string::npos ? 0 : std::stoi(text.substr(at + start.size()));
  }

  static constexpr const char* owner = "m1:0123456789abcdef:1.1::1602";
  test_server server_;

 private:
  void on_result(deployment::lock_request& request, const lock::step_result& result,
                 time_ns /*now*/) noexcept override {
    const std::lock_guard guard(mutex_);
    results_[request.serial] = result;
    changed_.notify_all();
  }

  net::reactor loop_;
  silent_listener listener_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::size_t, lock::step_result> results_;
  std::vector<std::unique_ptr<deployment::lock_request>> requests_;
  std::unique_ptr<deployment::deployment> servers_;
};

TEST_F(renewal_batches, many_renewals_are_few_requests) {
  for (int i = 0; i < 100; ++i) hold("many." + std::to_string(i));
  run([&] {
    for (int i = 0; i < 100; ++i) ask("many." + std::to_string(i), step::renew);
  });
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(result(i), answer::renewed) << i;
  EXPECT_EQ(calls(), 4);
  for (int i = 0; i < 100; ++i) {
    const auto left = std::stoi(server_.command({"PTTL", lock_key("many." + std::to_string(i))}));
    EXPECT_GT(left, 30'000);
  }
}

// The shorter lease of an earlier renewal must not replace that of a later extension.
TEST_F(renewal_batches, hazard_17_a_later_request_about_a_lock_comes_later) {
  hold("a");
  hold("b");
  run([&] {
    ask("a", step::renew, 40'000);
    ask("b", step::renew, 40'000);
    ask("a", step::renew, 90'000, true);
    ask("b", step::release);
  });
  EXPECT_EQ(result(0), answer::renewed);
  EXPECT_EQ(result(1), answer::renewed);
  EXPECT_EQ(result(2), answer::renewed);
  EXPECT_EQ(result(3), answer::released);
  EXPECT_GT(std::stoi(server_.command({"PTTL", lock_key("a")})), 60'000);
}

TEST_F(renewal_batches, hazard_27_a_forgotten_script_is_sent_with_the_next_batch) {
  hold("a");
  hold("b");
  server_.command({"SCRIPT", "FLUSH"});
  const auto both = [&] {
    run([&] {
      ask("a", step::renew);
      ask("b", step::renew);
    });
  };
  both();
  EXPECT_EQ(result(0), answer::no_script);
  EXPECT_EQ(result(1), answer::no_script);
  for (int round = 1; round < 3; ++round) {
    both();
    const auto first = static_cast<std::size_t>(round) * 2;
    EXPECT_EQ(result(first), answer::renewed);
    EXPECT_EQ(result(first + 1), answer::renewed);
  }
}

TEST_F(renewal_batches, hazard_17_each_lock_has_its_own_result) {
  hold("mine");
  server_.command({"SET", lock_key("other"), "m1:fedcba9876543210:1.1::1602"});
  server_.command({"RPUSH", lock_key("foreign"), "x"});
  run([&] {
    for (const auto* name : {"mine", "other", "gone", "foreign"}) ask(name, step::renew);
  });
  EXPECT_EQ(result(0), answer::renewed);
  EXPECT_EQ(result(1), answer::not_owner);
  EXPECT_EQ(result(2), answer::not_owner);
  EXPECT_EQ(result(3), answer::no_script);
  EXPECT_EQ(server_.command({"PTTL", lock_key("other")}), "-1");
}

}  // namespace
}  // namespace mortise::testing::renewal_batches_test
