// A connection whose server no longer serves, or is not the expected one: the end of its requests,
// and its next server. The test has the resolver.
#include <atomic>
#include <deque>
#include <mutex>

#include "integration/single/connection_fixture.hpp"
#include "support/fake_server.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::connection_failover_test {
namespace {

// Returns one result after the other, and then the last again and again.
class scripted_name final : public net::resolver {
 public:
  explicit scripted_name(std::deque<std::vector<std::string>> paths) : paths_(std::move(paths)) {}
  [[nodiscard]] bool is_immediate() const noexcept override { return true; }
  [[nodiscard]] std::string text() const override { return "db.example"; }
  net::resolution resolve(time_ns) override {
    net::resolution found;
    for (const auto& path : paths_.front()) {
      found.addresses.emplace_back();
      if (!net::address::from_path(path, found.addresses.back())) std::abort();
    }
    if (paths_.size() > 1) paths_.pop_front();
    return found;
  }

 private:
  std::deque<std::vector<std::string>> paths_;
};

std::function<void(redis::connection_config&)> to(std::deque<std::vector<std::string>> paths,
                                                  std::int64_t timeout_ms = 20'000) {
  return [=](redis::connection_config& config) {
    config.where = std::make_shared<scripted_name>(paths);
    config.command_timeout_ms = timeout_ms;
  };
}

// One that has to be looked up.
class looked_up_name final : public net::resolver {
 public:
  explicit looked_up_name(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] bool is_immediate() const noexcept override { return false; }
  [[nodiscard]] std::string text() const override { return "db.example"; }
  net::resolution resolve(time_ns) override {
    const std::lock_guard guard(mutex_);
    ++looks_;
    net::resolution found;
    found.addresses.emplace_back();
    if (!net::address::from_path(path_, found.addresses.back())) std::abort();
    return found;
  }
  void lead_to(std::string path) {
    const std::lock_guard guard(mutex_);
    path_ = std::move(path);
  }
  [[nodiscard]] int looks() {
    const std::lock_guard guard(mutex_);
    return looks_;
  }

 private:
  std::mutex mutex_;
  std::string path_;
  int looks_ = 0;
};

void answer_as_replica(fake_peer& peer, const fake_command& command) {
  if (command.is("HELLO")) {
    return peer.send("%1\r\n$4\r\nrole\r\n$7\r\nreplica\r\n");
  }
  fake_server::answer_healthy(peer, command);
}

TEST(connection_failover, hazard_28_one_refusal_ends_the_connection_and_each_request_as_it_is) {
  test_server next;
  fake_server first([](fake_peer& peer, const fake_command& command) {
    // When both are there, so that neither meets a connection that has ended.
    if (command.is("GET", "refused")) return;
    if (command.is("GET", "silent")) return peer.send("-READONLY You can't write\r\n");
    fake_server::answer_healthy(peer, command);
  });
  session client("", to({{first.socket_path()}, {next.socket_path()}}));
  ASSERT_TRUE(client.open().ok());
  test_request silent;
  test_request refused;
  test_request late;
  for (auto* request : {&refused, &silent, &late}) request->caller = &request->wait;
  ASSERT_EQ(client.connection->commands().submit(refused, encoded({"GET", "refused"}),
                                                 redis::flush::by_io_thread),
            status::ok);
  ASSERT_EQ(client.connection->commands().submit(silent, encoded({"GET", "silent"}),
                                                 redis::flush::by_io_thread),
            status::ok);
  ASSERT_TRUE(client.connection->commands().await(refused.wait, soon()));
  ASSERT_TRUE(client.connection->commands().await(silent.wait, soon()));
  EXPECT_EQ(refused.answer, "-READONLY You can't write");
  EXPECT_EQ(silent.answer, "(broken, sent)");
  ASSERT_TRUE(client.events.wait_for_ups(2));
  ASSERT_EQ(client.events.downs.size(), 1U);
  const auto& why = client.events.downs[0];
  EXPECT_EQ(why.code, status::refused);
  EXPECT_EQ(why.server_text, "READONLY You can't write");
  EXPECT_NE(why.message.find("db.example (unix://" + first.socket_path()), std::string::npos)
      << why.message;
  EXPECT_TRUE(client.events.ups[1].is_reconnect);
  EXPECT_EQ(client.ask({"ECHO", "here"}), "here");
}

TEST(connection_failover, hazard_10_a_replica_does_not_keep_out_the_next_address) {
  test_server master;
  fake_server replica(answer_as_replica);
  session client("", to({{replica.socket_path(), master.socket_path()}}));
  ASSERT_TRUE(client.open().ok());
  EXPECT_EQ(replica.accepted(), 1) << "in one attempt";
  EXPECT_EQ(client.events.ups[0].role, "master");
}

TEST(connection_failover, if_none_of_the_addresses_serves_each_is_named) {
  fake_server first(answer_as_replica);
  fake_server second(answer_as_replica);
  outcome result;
  const auto is_named = [&](const fake_server& one) {
    const auto part = one.socket_path() + "): this is a read-only replica";
    return result.message.find(part) != std::string::npos;
  };
  // The deadline may cut the last attempt, which then has no result.
  for (int i = 0; i < 20 && !(is_named(first) && is_named(second)); ++i) {
    session client("", to({{first.socket_path(), second.socket_path()}}));
    result = client.open(boot_now() + 300 * ns_per_ms);
  }
  EXPECT_TRUE(is_named(first) && is_named(second)) << result.message;
  EXPECT_EQ(result.code, status::refused);
  EXPECT_TRUE(result.is_retryable);
}

TEST(connection_failover, hazard_10_a_name_is_looked_at_beside_a_connection_that_works) {
  fake_server first;
  fake_server next;
  const auto name = std::make_shared<looked_up_name>(first.socket_path());
  session client("", [&](redis::connection_config& config) {
    config.where = name;
    config.look_interval_ms = 20;
  });
  ASSERT_TRUE(client.open().ok());
  EXPECT_TRUE(eventually([&] { return name->looks() > 5; }));
  EXPECT_EQ(first.accepted(), 1) << "undisturbed while nothing has changed";
  name->lead_to(next.socket_path());
  ASSERT_TRUE(client.events.wait_for_ups(2));
  EXPECT_EQ(next.accepted(), 1);
  ASSERT_EQ(client.events.downs.size(), 1U);
  EXPECT_NE(client.events.downs[0].message.find("(replaced) to"), std::string::npos);
}

// A server that accepts and then stays silent leaves the next its share of the time.
TEST(connection_failover, hazard_26_an_address_that_does_not_greet_leaves_time_for_the_next) {
  test_server master;
  fake_server silent([](fake_peer&, const fake_command&) {});
  session client("", to({{silent.socket_path(), master.socket_path()}}, 2000));
  const auto result = client.open(boot_now() + 2 * ns_per_s);
  EXPECT_TRUE(result.ok()) << result.message;
}

// Otherwise the client would wait at one server for the messages of another.
TEST(connection_failover, hazard_24_the_inbox_is_where_the_commands_go) {
  test_server first({.arguments = {"--rename-command", "HELLO", ""}});
  test_server other({.arguments = {"--rename-command", "HELLO", ""}});
  // Each resolution but the first two, which are one for RESP3 and one for RESP2, is of the other.
  session client("", to({{first.socket_path()}, {first.socket_path()}, {other.socket_path()}}));
  ASSERT_TRUE(client.open().ok());
  EXPECT_EQ(first.command({"PUBLISH", "mortise:inbox", "here"}), "1");
  EXPECT_TRUE(client.events.wait_for_pushes(1));
}

// A server that greets as a master and then refuses is not connected to in a tight circle.
TEST(connection_failover, a_server_that_refuses_again_and_again_is_given_time) {
  fake_server server([](fake_peer& peer, const fake_command& command) {
    if (command.is("GET")) return peer.send("-CLUSTERDOWN The cluster is down\r\n");
    fake_server::answer_healthy(peer, command);
  });
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  const auto end = boot_now() + ns_per_s;
  while (boot_now() < end) static_cast<void>(client.ask_when_up({"GET", "x"}));
  EXPECT_LT(server.accepted(), 200);
}

}  // namespace
}  // namespace mortise::testing::connection_failover_test
