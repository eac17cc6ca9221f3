// Memory that runs out on the library's own threads, which can report it by events only. The
// connection may end and reconnect later. Everything else continues unaffected.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "safety/scarce_memory.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"
#include "support/test_cluster.hpp"

namespace mortise::testing::memory_connection_test {
namespace {

constexpr std::int64_t lease_ms = 10'000;
// ---- a connection that comes back ------------------------------------------------------------

enum class way { unix_socket, two_sockets, host_name, sentinel, cluster };

class memory_of_a_connection : public ::testing::TestWithParam<way> {
 protected:
  static server_options options_of(way kind) {
    server_options options;
    // Without HELLO it speaks RESP2 only, where messages have a socket of their own.
    if (kind == way::two_sockets) options.arguments = {"--rename-command", "HELLO", ""};
    if (kind == way::host_name || kind == way::sentinel) options.arguments = {"--port", "free"};
    return options;
  }
  memory_of_a_connection() {
    if (GetParam() == way::cluster) {
      cluster_ = std::make_unique<test_cluster>(cluster_options{.masters = 1, .replicas_each = 0});
    }
    if (GetParam() != way::sentinel) return;
    sentinel_ =
        std::make_unique<test_server>(server_options{.arguments = {"sentinel", "--port", "free"}});
    sentinel_->command(
        {"SENTINEL", "MONITOR", "mymaster", "127.0.0.1", std::to_string(server_.port()), "1"});
  }
  [[nodiscard]] std::string place() const {
    if (GetParam() == way::host_name) {
      return "redis://localhost:" + std::to_string(server_.port());
    }
    if (cluster_) return cluster_->url();
    if (!sentinel_) return server_.url();
    return "redis+sentinel://127.0.0.1:" + std::to_string(sentinel_->port()) + "/mymaster";
  }
  [[nodiscard]] std::string url() const {
    return place() + "?lease=" + std::to_string(lease_ms) + "ms";
  }
  void end_connections() {
    server_.command({"CLIENT", "KILL", "SKIPME", "yes"});
    if (sentinel_) sentinel_->command({"CLIENT", "KILL", "SKIPME", "yes"});
  }

  test_server server_{options_of(GetParam())};
  std::unique_ptr<test_server> sentinel_;  // none where the URL names the server
  std::unique_ptr<test_cluster> cluster_;  // instead of the server
};

class memory_of_a_new_connection : public memory_of_a_connection {};

TEST_P(memory_of_a_new_connection, while_it_is_made) {
  const int failures = sweep(whose::both, [&](scarcity& memory) {
    const auto address = url();
    const auto error = new_error();
    memory.begin();
    client_handle client(mortise_client_new(address.data(), address.size(), nullptr, error.get()));
    memory.end();
    if (!client) {
      EXPECT_EQ(MORTISE_NO_MEMORY, mortise_error_status(error.get()))
          << mortise_error_message(error.get());
      return;
    }
    EXPECT_EQ(MORTISE_OK, mortise_client_ping(client.get(), nullptr));
  });
  EXPECT_GT(failures, 50);
}

TEST_P(memory_of_a_connection, when_it_comes_back) {
  const auto client = open_client(url());
  const auto other = open_client(url());
  const auto queue = open_queue(other);  // so that the client's I/O thread reads its replies
  std::vector<lock_handle> held;
  for (int i = 0; i < 20; ++i) {
    held.push_back(open_lock(client, "held " + std::to_string(i)));
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(held.back().get(), patience_ms, nullptr));
    ASSERT_EQ(MORTISE_OK, mortise_lock_watch(held.back().get(), queue.get(), 7, nullptr));
  }
  const auto free = open_lock(client, "free");
  const auto contended = open_lock(client, "wanted");
  const auto taken = open_lock(other, "wanted");
  const int failures = sweep(whose::library, [&](scarcity& memory) {
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(taken.get(), patience_ms, nullptr));
    ASSERT_EQ(MORTISE_OK,
              mortise_lock_acquire_async(contended.get(), queue.get(), 1, patience_ms, nullptr));
    const auto begin = boot_now();
    memory.begin();
    end_connections();
    ASSERT_TRUE(answers(client));
    // On a new connection a hold counts only after the client has confirmed it.
    for (const auto& lock : held) {
      ASSERT_TRUE(eventually([&] {
        const auto end_ms = ms_since(begin) + mortise_lock_valid_ms(lock.get());
        return end_ms >= lease_ms - 1;
      }));
    }
    memory.end();
    ASSERT_TRUE(answers(other));
    ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(taken.get(), nullptr));
    const auto ended = next_event(queue);
    ASSERT_EQ(MORTISE_EVENT_ACQUIRED, ended.kind);
    ASSERT_EQ(MORTISE_OK, ended.status) << status_name(ended.status);
    ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(contended.get(), nullptr));
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(free.get(), patience_ms, nullptr));
    ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(free.get(), nullptr));
    ASSERT_EQ(MORTISE_EVENT_NONE, next_event(queue, 0).kind);
  });
  EXPECT_GT(failures, 50);
}

std::string name_of(const ::testing::TestParamInfo<way>& chosen) {
  switch (chosen.param) {
    case way::unix_socket:
      return "unix_socket";
    case way::two_sockets:
      return "two_sockets";
    case way::host_name:
      return "host_name";
    case way::sentinel:
      return "sentinel";
    case way::cluster:
      return "cluster";
  }
  return "";
}

INSTANTIATE_TEST_SUITE_P(ways, memory_of_a_connection,
                         ::testing::Values(way::unix_socket, way::two_sockets, way::host_name,
                                           way::sentinel),
                         name_of);
INSTANTIATE_TEST_SUITE_P(ways, memory_of_a_new_connection,
                         ::testing::Values(way::unix_socket, way::two_sockets, way::host_name,
                                           way::sentinel, way::cluster),
                         name_of);

// ---- a cluster -------------------------------------------------------------------------------

// The client knows one of two masters. The lock is on the other one.
class memory_of_a_cluster : public ::testing::Test {
 protected:
  explicit memory_of_a_cluster(std::size_t replicas_each = 0)
      : cluster_{{.masters = 2, .replicas_each = replicas_each}} {
    EXPECT_EQ(1U, cluster_.owner_of("{mortise:" + name_ + "}"));
  }
  [[nodiscard]] std::string url() { return "redis+cluster://" + cluster_.address_of(0); }
  // Acquires the lock over a connection that is made for it.
  void expect_acquired_at_last(const client_handle& client, scarcity& memory) {
    const auto error = new_error();
    const auto lock = open_lock(client, name_);
    memory.begin();
    auto got = mortise_lock_acquire(lock.get(), patience_ms, error.get());
    memory.end();
    EXPECT_TRUE(got == MORTISE_OK || got == MORTISE_NO_MEMORY)
        << status_name(got) << ": " << mortise_error_message(error.get());
    if (got != MORTISE_OK) got = mortise_lock_acquire(lock.get(), patience_ms, nullptr);
    EXPECT_EQ(MORTISE_OK, got);
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  }

  test_cluster cluster_;
  const std::string name_ =
      cluster_.owner_of("{mortise:order}") == 1 ? std::string("order") : std::string("report");
};

TEST_F(memory_of_a_cluster, whose_other_server_is_found) {
  const auto address = url();
  const int failures = sweep(whose::library, [&](scarcity& memory) {
    const auto error = new_error();
    memory.begin();
    const client_handle client(
        mortise_client_new(address.data(), address.size(), nullptr, error.get()));
    memory.end();
    if (client) return expect_acquired_at_last(client, memory);
    EXPECT_EQ(MORTISE_NO_MEMORY, mortise_error_status(error.get()))
        << mortise_error_message(error.get());
  });
  EXPECT_GT(failures, 100);
}

class memory_of_acknowledgements : public memory_of_a_cluster {
 protected:
  memory_of_acknowledgements() : memory_of_a_cluster(1) {}
};

TEST_F(memory_of_acknowledgements, of_another_server) {
  const int failures = sweep(whose::library, [&](scarcity& memory) {
    expect_acquired_at_last(open_client(url() + "?acks=1"), memory);
  });
  EXPECT_GT(failures, 50);
}

// ---- local: ----------------------------------------------------------------------------------

class memory_of_a_local_server : public ::testing::Test {
 protected:
  memory_of_a_local_server() {
    char directory[] = "/tmp/mortise-memory-XXXXXX";
    if (::mkdtemp(directory) == nullptr)
      throw std::system_error(errno, std::generic_category(), directory);
    folder_ = directory;
    ::setenv("MORTISE_LOCAL_DIR", (folder_ + "/local").c_str(), 1);
    ::setenv("MORTISE_LOCAL_IDLE_S", "1", 1);
  }
  ~memory_of_a_local_server() override {
    shut_down();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  void shut_down() {
    try {
      raw_client(folder_ + "/local/local.sock").command({"SHUTDOWN", "NOSAVE"});
    } catch (const std::runtime_error&) {
      return;  // there is none
    }
  }
  // Whether it was made. Otherwise memory was missing.
  static bool opens(scarcity& memory) {
    const auto error = new_error();
    memory.begin();
    const std::string url = "local:?command_timeout=20s";
    const client_handle client(mortise_client_new(url.data(), url.size(), nullptr, error.get()));
    memory.end();
    if (client) return answers(client);
    EXPECT_EQ(MORTISE_NO_MEMORY, mortise_error_status(error.get()))
        << mortise_error_message(error.get());
    return false;
  }

  std::string folder_;
};

TEST_F(memory_of_a_local_server, that_is_found) {
  scarcity none(whose::library, 0, 0);
  ASSERT_TRUE(opens(none));
  const int failures = sweep(whose::library, [&](scarcity& memory) { opens(memory); });
  EXPECT_GT(failures, 20);
}

TEST_F(memory_of_a_local_server, that_is_started) {
  for (int after = 0; after < 30; ++after) {
    scarcity memory(whose::library, after, 1);
    opens(memory);
    EXPECT_EQ(1, scarcity::failures());
    scarcity none(whose::library, 0, 0);
    ASSERT_TRUE(opens(none));
    shut_down();
  }
}

}  // namespace
}  // namespace mortise::testing::memory_connection_test
