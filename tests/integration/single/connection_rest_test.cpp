// A connection that is not needed for a while, or lacks what it needs.
#include <sys/resource.h>

#include <atomic>
#include <memory>

#include "integration/single/connection_fixture.hpp"
#include "net/threads/caller.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::connection_rest_test {
namespace {

TEST(rest, lasts_until_it_is_resumed) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  for (std::size_t turn = 1; turn < 4; ++turn) {
    client.connection->rest();
    ASSERT_TRUE(client.events.wait_for_downs(turn));
    EXPECT_EQ("(unreachable)", client.ask({"PING"}));
    client.connection->resume();
    ASSERT_TRUE(client.events.wait_for_ups(turn + 1));
    EXPECT_EQ("PONG", client.ask({"PING"}));
  }
}

TEST(rest, ends_the_attempts_to_connect) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  server.kill();
  ASSERT_TRUE(client.events.wait_for_downs(1));
  client.connection->rest();
  server.start();
  client.connection->resume();
  ASSERT_TRUE(client.events.wait_for_ups(2));
  EXPECT_EQ("PONG", client.ask({"PING"}));
}

// No descriptor is available while it lives.
class no_descriptors {
 public:
  no_descriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit none = before_;
    none.rlim_cur = 0;
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~no_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  no_descriptors(const no_descriptors&) = delete;
  no_descriptors& operator=(const no_descriptors&) = delete;

 private:
  rlimit before_{};
};

struct beginning final : net::task {
  void run() noexcept override {
    result = connection->begin();
    wait.finish();
  }
  redis::connection* connection = nullptr;
  outcome result;
  net::caller wait;
};

// Counts the attempts of a connection to a path without a server.
class counted_attempts final : public net::resolver {
 public:
  [[nodiscard]] bool is_immediate() const noexcept override { return true; }
  net::resolution resolve(time_ns deadline) override {
    ++count;
    return path_->resolve(deadline);
  }
  [[nodiscard]] std::string text() const override { return path_->text(); }

  std::atomic<int> count = 0;

 private:
  std::shared_ptr<net::resolver> path_ = net::resolver_for_path("/nowhere");
};

// UBSan needs a descriptor to check an object of a dynamic type that it has not met before. So a
// connection fails and retries on this thread first.
void meet_all_types(net::reactor& loop) {
  const auto attempts = std::make_shared<counted_attempts>();
  recorder events;
  redis::connection_config config;
  config.where = attempts;
  redis::connection vain(loop, config, events);
  beginning first;
  first.connection = &vain;
  loop.post(first);
  ASSERT_TRUE(first.wait.wait(soon()));
  loop.cancel(first);
  EXPECT_TRUE(eventually([&] { return attempts->count > 2; }));
  vain.close(0);
}

// As with a server that joins a cluster.
TEST(rest, a_lack_of_descriptors_passes) {
  test_server server;
  session other(server.socket_path());  // for its I/O thread
  recorder events;
  redis::connection_config config;
  config.where = net::resolver_for_path(server.socket_path());
  meet_all_types(other.loop);
  std::unique_ptr<redis::connection> scarce;
  {
    const no_descriptors now;
    scarce = std::make_unique<redis::connection>(other.loop, config, events);
    EXPECT_EQ(status::limit, scarce->begin().code);
    EXPECT_EQ(status::limit, scarce->last_problem().code);
  }
  EXPECT_TRUE(events.wait_for_ups(1));
  EXPECT_TRUE(scarce->last_problem().ok());
}

// The I/O thread connects to new servers of a cluster, so it must not wait for itself.
TEST(rest, begins_where_there_is_no_descriptor_and_nobody_blocks) {
  session other("/nowhere");
  recorder events;
  redis::connection_config config;
  config.where = net::resolver_for_path("/nowhere");
  meet_all_types(other.loop);
  std::unique_ptr<redis::connection> scarce;
  {
    const no_descriptors now;
    scarce = std::make_unique<redis::connection>(other.loop, config, events);
  }
  beginning on_io_thread;
  on_io_thread.connection = scarce.get();
  {
    const no_descriptors now;
    other.loop.post(on_io_thread);
    ASSERT_TRUE(on_io_thread.wait.wait(soon()));
    EXPECT_EQ(status::limit, scarce->last_problem().code);
  }
  EXPECT_EQ(status::limit, on_io_thread.result.code);
  other.loop.cancel(on_io_thread);
}

}  // namespace
}  // namespace mortise::testing::connection_rest_test
