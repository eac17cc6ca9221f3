// What becomes of what was submitted just before a connection is closed.
#include <atomic>

#include "integration/single/connection_fixture.hpp"
#include "support/server.hpp"

namespace mortise::testing::connection_close_test {
namespace {

// The socket of a busy machine: from a moment on it takes nothing for a while.
class slow_transport final : public net::transport {
 public:
  explicit slow_transport(std::atomic<time_ns>& blocked_until) : blocked_until_(blocked_until) {}
  net::io_result start_connect(const net::address& where) noexcept override {
    return socket_.start_connect(where);
  }
  net::io_result finish_connect() noexcept override { return socket_.finish_connect(); }
  net::io_result send(std::string_view bytes) noexcept override {
    if (boot_now() < blocked_until_.load()) return {net::io_state::want_write};
    return socket_.send(bytes);
  }
  net::io_result receive(char* into, std::size_t room) noexcept override {
    return socket_.receive(into, room);
  }
  void finish_sending() noexcept override { socket_.finish_sending(); }
  [[nodiscard]] int descriptor() const noexcept override { return socket_.descriptor(); }
  void close() noexcept override { socket_.close(); }
  [[nodiscard]] const char* describe(int error) const noexcept override {
    return socket_.describe(error);
  }

 private:
  std::atomic<time_ns>& blocked_until_;
  net::socket_transport socket_;
};

// Closes right after a command was submitted, and returns whether the server has executed it.
std::string set_while_closing(test_server& server, time_ns linger_ns) {
  std::atomic<time_ns> blocked_until{0};
  test_request request;
  session client(server.socket_path(), [&](auto& config) {
    config.make_transport = [&](const std::string&) {
      return std::make_unique<slow_transport>(blocked_until);
    };
  });
  EXPECT_TRUE(client.open().ok());
  blocked_until = boot_now() + 200 * ns_per_ms;
  EXPECT_EQ(client.connection->commands().submit(request, encoded({"SET", "last", "words"}),
                                                 redis::flush::now),
            status::ok);
  client.connection->close(linger_ns);
  EXPECT_EQ(request.ends, 1);
  const auto found = server.command({"GET", "last"});
  server.command({"DEL", "last"});
  return found;
}

TEST(close, lingers_until_what_was_submitted_is_said) {
  test_server server;
  EXPECT_EQ(set_while_closing(server, generous_ns), "words");
}

}  // namespace
}  // namespace mortise::testing::connection_close_test
