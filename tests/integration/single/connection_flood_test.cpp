// A server that sends messages faster than the client can process them.
#include <atomic>
#include <chrono>
#include <string_view>
#include <thread>

#include "integration/single/connection_fixture.hpp"
#include "support/server.hpp"

namespace mortise::testing::connection_flood_test {
namespace {

constexpr time_ns flood_ns = 2 * ns_per_s;

// Endless well-formed messages until a point in time, then the bytes of the server.
class flooded_transport final : public net::transport {
 public:
  explicit flooded_transport(std::atomic<time_ns>& flood_until) : flood_until_(flood_until) {}
  net::io_result start_connect(const net::address& where) noexcept override {
    return socket_.start_connect(where);
  }
  net::io_result finish_connect() noexcept override { return socket_.finish_connect(); }
  net::io_result send(std::string_view bytes) noexcept override { return socket_.send(bytes); }
  net::io_result receive(char* into, std::size_t room) noexcept override {
    if (position_ == 0 && boot_now() >= flood_until_.load()) return socket_.receive(into, room);
    for (std::size_t i = 0; i < room; ++i) {
      into[i] = message[position_];
      position_ = (position_ + 1) % message.size();
      if (position_ == 0 && boot_now() >= flood_until_.load()) return {net::io_state::done, i + 1};
    }
    return {net::io_state::done, room};
  }
  void finish_sending() noexcept override { socket_.finish_sending(); }
  [[nodiscard]] int descriptor() const noexcept override { return socket_.descriptor(); }
  void close() noexcept override { socket_.close(); }
  [[nodiscard]] const char* describe(int error) const noexcept override {
    return socket_.describe(error);
  }

 private:
  static constexpr std::string_view message =
      ">3\r\n$7\r\nmessage\r\n$15\r\nmortise:inbox:a\r\n$4\r\nW xx\r\n";
  std::atomic<time_ns>& flood_until_;
  net::socket_transport socket_;
  std::size_t position_ = 0;  // bytes of the current message
};

class flooded_session {
 public:
  flooded_session() { EXPECT_TRUE(client.open().ok()); }
  // Starts with the next reply.
  void begin() { flood_until_ = boot_now() + flood_ns; }
  [[nodiscard]] bool is_flooded() const { return boot_now() < flood_until_; }
  void end() { flood_until_ = 0; }

 private:
  test_server server_;
  std::atomic<time_ns> flood_until_{0};

 public:
  session client{server_.socket_path(), [this](redis::connection_config& config) {
                   config.make_transport = [this](const std::string&) {
                     return std::make_unique<flooded_transport>(flood_until_);
                   };
                 }};
};

TEST(connection_flood, keeps_no_caller_beyond_its_deadline) {
  flooded_session flooded;
  auto& client = flooded.client;
  test_request request;
  request.caller = &request.wait;
  flooded.begin();
  ASSERT_EQ(
      client.connection->commands().submit(request, encoded({"PING"}), redis::flush::before_await),
      status::ok);
  EXPECT_FALSE(client.connection->commands().await(request.wait, boot_now() + 50 * ns_per_ms));
  EXPECT_TRUE(flooded.is_flooded());
  flooded.end();
  EXPECT_TRUE(client.connection->commands().await(request.wait, soon()));
  EXPECT_EQ(request.answer, "PONG");
}

TEST(connection_flood, keeps_the_io_thread_from_no_timer) {
  struct noting_timer final : net::timer {
    void on_timer(time_ns) noexcept override { has_come = true; }
    std::atomic<bool> has_come{false};
  } timer;
  flooded_session flooded;
  auto& client = flooded.client;
  test_request request;
  flooded.begin();
  ASSERT_EQ(client.connection->commands().submit(request, encoded({"PING"}), redis::flush::now),
            status::ok);
  ASSERT_TRUE(client.events.wait_for_pushes(1));
  client.loop.schedule(timer, boot_now() + 50 * ns_per_ms);
  while (flooded.is_flooded() && !timer.has_come) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(flooded.is_flooded());
  flooded.end();
  EXPECT_TRUE(client.connection->commands().await(request.wait, soon()));
  client.loop.cancel(timer);
}

}  // namespace
}  // namespace mortise::testing::connection_flood_test
