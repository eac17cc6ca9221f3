// How a connection finds its server: several addresses, servers that do not answer, and the options
// of each socket.
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "integration/single/connection_fixture.hpp"
#include "support/deaf_port.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::dialer_test {
namespace {

class several_addresses final : public net::resolver {
 public:
  explicit several_addresses(const std::vector<int>& ports) {
    for (const int port : ports) {
      found_.emplace_back();
      if (!net::address::from_literal("127.0.0.1", port, found_.back())) std::abort();
    }
  }
  [[nodiscard]] bool is_immediate() const noexcept override { return true; }
  [[nodiscard]] std::string text() const override { return "several"; }
  net::resolution resolve(time_ns) override { return {{}, found_}; }

 private:
  std::vector<net::address> found_;
};

// A port without a listener, which nobody else gets.
class closed_port {
 public:
  closed_port() {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof where;
    if (::bind(descriptor_, reinterpret_cast<sockaddr*>(&where), size) != 0) std::abort();
    ::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&where), &size);
    port_ = ntohs(where.sin_port);
  }
  ~closed_port() { ::close(descriptor_); }
  closed_port(const closed_port&) = delete;
  closed_port& operator=(const closed_port&) = delete;

  [[nodiscard]] int port() const { return port_; }

 private:
  const int descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int port_ = 0;
};

std::function<void(redis::connection_config&)> to_ports(const std::vector<int>& ports,
                                                        std::int64_t timeout_ms) {
  return [=](redis::connection_config& config) {
    config.where = std::make_shared<several_addresses>(ports);
    config.command_timeout_ms = timeout_ms;
  };
}

TEST(dialer, takes_the_first_address_that_answers) {
  test_server server({.arguments = {"--port", "free"}});
  test_server another({.arguments = {"--port", "free"}});
  server.command({"SET", "who", "the first"});
  const deaf_port deaf;
  const closed_port closed;
  // One that hangs leaves its share of the time to the others.
  const std::vector<std::vector<int>> ways = {{server.port(), another.port()},
                                              {closed.port(), server.port(), another.port()},
                                              {deaf.port(), closed.port(), server.port()}};
  for (const auto& ports : ways) {
    session client("", to_ports(ports, 3000));
    const auto opened = client.open();
    ASSERT_TRUE(opened.ok()) << opened.message;
    EXPECT_EQ(client.ask({"GET", "who"}), "the first");
  }
}

class nowhere final : public net::resolver {
 public:
  explicit nowhere(int count) {
    for (int i = 0; i < count; ++i) {
      found_.emplace_back();
      if (!net::address::from_path("/nowhere/" + std::to_string(i), found_.back())) std::abort();
    }
  }
  [[nodiscard]] bool is_immediate() const noexcept override { return true; }
  [[nodiscard]] std::string text() const override { return "nowhere"; }
  net::resolution resolve(time_ns) override { return {{}, found_}; }

 private:
  std::vector<net::address> found_;
};

// The stack of the I/O thread is small.
TEST(dialer, tries_any_number_of_addresses_that_fail_at_once) {
  static constexpr int count = 4000;
  session client("", [](redis::connection_config& config) {
    config.where = std::make_shared<nowhere>(count);
  });
  ASSERT_EQ(client.begin().code, status::ok);
  const auto last = "/nowhere/" + std::to_string(count - 1);
  const auto reports_all = [&] {
    return client.connection->last_problem().message.find(last) != std::string::npos;
  };
  EXPECT_TRUE(eventually(reports_all));
}

TEST(dialer, says_what_came_of_each_address) {
  const deaf_port deaf;
  const closed_port closed;
  session client("", to_ports({deaf.port(), closed.port()}, 600));
  const auto result = client.open(boot_now() + 600 * ns_per_ms);
  EXPECT_EQ(result.code, status::unreachable);
  EXPECT_TRUE(result.is_retryable);
  EXPECT_FALSE(result.is_ambiguous);
  for (const auto& part : {std::to_string(deaf.port()) + ": no answer",
                           std::to_string(closed.port()) + ": Connection"}) {
    EXPECT_NE(result.message.find(part), std::string::npos) << result.message;
  }
}

// A unix socket whose queue of new connections is full refuses at once, and may have room soon.
TEST(dialer, tries_a_full_unix_socket_until_the_deadline) {
  char folder[] = "/tmp/mortise-full-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const auto path = std::string(folder) + "/full.sock";
  net::address where;
  ASSERT_TRUE(net::address::from_path(path, where));
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(listener, where.raw(), where.size()), 0);
  ASSERT_EQ(::listen(listener, 0), 0);
  const int filler = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  ASSERT_EQ(::connect(filler, where.raw(), where.size()), 0);
  const time_ns start = boot_now();
  session client(path);
  const auto result = client.open(start + 300 * ns_per_ms);
  EXPECT_EQ(result.code, status::unreachable) << result.message;
  EXPECT_TRUE(result.is_retryable);
  EXPECT_GE(boot_now(), start + 200 * ns_per_ms) << "it gave up at once";
  ::close(filler);
  ::close(listener);
  std::filesystem::remove_all(folder);
}

std::set<int> open_descriptors() {
  std::set<int> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename().string());
    if (::fcntl(fd, F_GETFD) >= 0) all.insert(fd);
  }
  return all;
}

int option_of(int fd, int level, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, level, option, &value, &size) == 0 ? value : -1;
}

bool is_tcp_to(int fd, int port) {
  sockaddr_in peer{};
  socklen_t size = sizeof peer;
  return ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0 &&
         peer.sin_family == AF_INET && ntohs(peer.sin_port) == port;
}

TEST(transport, names_addresses_as_urls_do) {
  net::address where;
  ASSERT_TRUE(net::address::from_literal("127.0.0.1", 6379, where));
  EXPECT_EQ(where.text(), "127.0.0.1:6379");
  ASSERT_TRUE(net::address::from_literal("::1", 6379, where));
  EXPECT_EQ(where.text(), "[::1]:6379");
  ASSERT_TRUE(net::address::from_path("/run/redis.sock", where));
  EXPECT_EQ(where.text(), "unix:///run/redis.sock");
}

// A peer that vanished is noticed within half a minute, and no small command waits for a reply.
TEST(transport, tells_the_kernel_to_look_after_tcp_connections) {
  test_server server({.arguments = {"--port", "free"}});
  const auto client = open_client(server.tcp_url());
  int connections = 0;
  for (const int fd : open_descriptors()) {
    if (!is_tcp_to(fd, server.port())) continue;
    ++connections;
    EXPECT_EQ(option_of(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_EQ(option_of(fd, IPPROTO_TCP, TCP_NODELAY), 1);
    const int idle = option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE);
    const int interval = option_of(fd, IPPROTO_TCP, TCP_KEEPINTVL);
    const int tries = option_of(fd, IPPROTO_TCP, TCP_KEEPCNT);
    EXPECT_LE(idle + interval * tries, 30);
  }
  EXPECT_EQ(connections, 1);
}

// A program that is started by exec keeps none of our descriptors open, and so no dead client
// alive.
TEST(transport, leaves_no_descriptor_to_other_programs) {
  test_server server({.arguments = {"--rename-command", "HELLO", "", "--port", "free"}});
  for (const auto& url : {server.url(), server.tcp_url()}) {
    const auto before = open_descriptors();
    const auto client = open_client(url);
    const auto queue = open_queue(client);
    EXPECT_GE(mortise_queue_fd(queue.get()), 0);
    int ours = 0;
    for (const int fd : open_descriptors()) {
      if (before.count(fd) != 0) continue;
      ++ours;
      EXPECT_EQ(::fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC)
          << std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd));
    }
    EXPECT_GE(ours, 6);  // epoll, its eventfd and its clock, two sockets, the queue
  }
}

}  // namespace
}  // namespace mortise::testing::dialer_test
