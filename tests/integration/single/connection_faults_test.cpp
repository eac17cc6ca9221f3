// redis::connection after the loss of the server, the network or the client itself.
#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <thread>

#include "integration/single/connection_fixture.hpp"
#include "redis/health_check.hpp"
#include "support/deaf_port.hpp"
#include "support/fake_server.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"
#include "support/tcp_proxy.hpp"

namespace mortise::testing::connection_faults_test {
namespace {

using redis::flush;

constexpr std::int64_t short_ms = 300;

void be_impatient(redis::connection_config& config) { config.command_timeout_ms = short_ms; }

TEST(connection_faults, reconnects_after_the_server_was_killed) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  server.restart();
  ASSERT_TRUE(client.events.wait_for_ups(2));
  EXPECT_EQ(client.ask_when_up({"PING"}), "PONG");
  EXPECT_EQ(client.events.downs.size(), 1U);
  EXPECT_EQ(client.events.downs[0].code, status::unreachable);
  EXPECT_FALSE(client.events.ups[0].is_reconnect);
  EXPECT_TRUE(client.events.ups[1].is_reconnect);
}

TEST(connection_faults, says_why_there_is_no_connection) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  server.stop();
  ASSERT_TRUE(client.events.wait_for_downs(1));
  EXPECT_EQ(client.ask({"PING"}), "(unreachable)");
  const auto problem = client.connection->last_problem();
  EXPECT_EQ(problem.code, status::unreachable);
  EXPECT_NE(problem.message.find(server.socket_path()), std::string::npos) << problem.message;
  server.start();
  EXPECT_EQ(client.ask_when_up({"PING"}), "PONG");
}

// A socket whose peer ends the stream while a request is sent, as TLS reports it.
class ended_transport final : public net::transport {
 public:
  explicit ended_transport(const std::atomic<bool>& is_ended) : is_ended_(is_ended) {}
  net::io_result start_connect(const net::address& where) noexcept override {
    return socket_.start_connect(where);
  }
  net::io_result finish_connect() noexcept override { return socket_.finish_connect(); }
  net::io_result send(std::string_view bytes) noexcept override {
    if (is_ended_) return {net::io_state::closed};
    return socket_.send(bytes);
  }
  net::io_result receive(char* buffer, std::size_t room) noexcept override {
    return socket_.receive(buffer, room);
  }
  void finish_sending() noexcept override { socket_.finish_sending(); }
  [[nodiscard]] int descriptor() const noexcept override { return socket_.descriptor(); }
  void close() noexcept override { socket_.close(); }
  [[nodiscard]] const char* describe(int error) const noexcept override {
    return socket_.describe(error);
  }

 private:
  const std::atomic<bool>& is_ended_;
  net::socket_transport socket_;
};

TEST(connection_faults, says_that_the_server_ended_the_connection_while_it_sent) {
  test_server server;
  std::atomic<bool> is_ended{false};
  session client(server.socket_path(), [&](redis::connection_config& config) {
    config.make_transport = [&](const std::string&) {
      return std::make_unique<ended_transport>(is_ended);
    };
  });
  ASSERT_TRUE(client.open().ok());
  is_ended = true;
  client.ask({"PING"});
  ASSERT_TRUE(client.events.wait_for_downs(1));
  is_ended = false;
  const auto& message = client.events.downs[0].message;
  EXPECT_NE(message.find("the server closed the connection"), std::string::npos) << message;
}

// Its waiter would miss the messages (hazard 24).
TEST(connection_faults, subscribes_later_where_there_is_no_room_for_the_request) {
  test_server server;
  session client(server.socket_path(),
                 [](redis::connection_config& config) { config.open_requests_limit = 1; });
  ASSERT_TRUE(client.open().ok());
  server.pause();
  test_request filling;
  ASSERT_EQ(client.connection->commands().submit(filling, encoded({"PING"}), flush::now),
            status::ok);
  for (const auto* channel : {"first", "second"}) client.connection->listen(channel);
  server.resume();
  const auto are_heard = [&] {
    return server.command({"PUBLISH", "first", "x"}) == "1" &&
           server.command({"PUBLISH", "second", "x"}) == "1";
  };
  EXPECT_TRUE(eventually(are_heard));
  EXPECT_EQ(client.events.downs.size(), 0U);
}

TEST(connection_faults, keeps_the_deadline_while_the_server_hangs) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  server.pause();
  test_request request;
  request.caller = &request.wait;
  ASSERT_EQ(client.connection->commands().submit(request, encoded({"PING"}), flush::now),
            status::ok);
  const time_ns start = boot_now();
  EXPECT_FALSE(client.connection->commands().await(request.wait, start + 50 * ns_per_ms));
  EXPECT_GE(boot_now(), start + 50 * ns_per_ms);
  EXPECT_LT(boot_now(), start + 5 * ns_per_s);
  server.resume();
  // It is still open, and its reply comes although no caller leads for it any longer.
  EXPECT_TRUE(client.connection->commands().await(request.wait, soon()));
  EXPECT_EQ(request.answer, "PONG");
  EXPECT_EQ(client.events.downs.size(), 0U);
}

// Counts the checks that found the server healthy. Each is followed by the next. After ten of them
// one connects to a port that does not answer.
class checks final : public redis::check_listener, private net::task {
 public:
  explicit checks(const test_server& server) {
    config_.where = net::resolver_for_path(server.socket_path());
    net::address::from_path(server.socket_path(), at_);
    net::address::from_literal("127.0.0.1", deaf_.port(), deaf_at_);
  }
  ~checks() override {
    is_ending_ = true;
    over_.wait(soon());
    loop_.cancel(static_cast<net::task&>(*this));
    loop_.stop();
  }
  checks(const checks&) = delete;
  checks& operator=(const checks&) = delete;

  outcome start() { return loop_.start(); }
  void look() { loop_.post(*this); }
  static constexpr int before_deaf = 10;
  [[nodiscard]] int count() const { return count_; }

 private:
  void run() noexcept override {
    const bool is_for_deaf = count_ == before_deaf && !std::exchange(was_deaf_, true);
    check_.look(is_for_deaf ? deaf_at_ : at_, {});
  }
  void on_moved(outcome /*why*/) noexcept override {}
  void on_healthy(time_ns /*since*/) noexcept override { ++count_; }
  void on_check_over() noexcept override {
    if (is_ending_) return over_.finish();
    look();
  }

  const deaf_port deaf_;
  net::reactor loop_;
  redis::connection_config config_;
  net::address at_;
  net::address deaf_at_;
  bool was_deaf_ = false;
  std::atomic<int> count_{0};
  std::atomic<bool> is_ending_{false};
  net::caller over_;
  redis::health_check check_{loop_, config_, *this};
};

// A slow server has many of them while one connection lives. Each doubles the time that the next
// may take to connect.
TEST(connection_faults, hazard_26_checks_of_a_silent_connection_never_wear_out) {
  const test_server server;
  checks all(server);
  ASSERT_TRUE(all.start().ok());
  all.look();
  ASSERT_TRUE(eventually([&] { return all.count() == checks::before_deaf; }));
  const auto is_healthy_again = [&] {
    all.look();
    return all.count() > checks::before_deaf;
  };
  EXPECT_TRUE(eventually(is_healthy_again));
}

// A slow server answers a new connection as late as the old one.
TEST(connection_faults, keeps_the_connection_of_a_server_that_is_slow) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  server.pause();
  test_request request;
  request.caller = &request.wait;
  ASSERT_EQ(client.connection->commands().submit(request, encoded({"PING"}), flush::now),
            status::ok);
  EXPECT_FALSE(client.connection->commands().await(request.wait, boot_now() + 3 * ns_per_s / 2));
  server.resume();
  EXPECT_TRUE(client.connection->commands().await(request.wait, soon()));
  EXPECT_EQ(request.answer, "PONG");
  // Time for the reply on the second connection.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(client.events.downs.size(), 0U);
}

// The server may have executed the request before the reconnect, and cannot execute it later.
TEST(connection_faults, hazard_16_leaves_a_silent_connection_when_a_new_one_is_answered) {
  test_server server;
  tcp_proxy network(server.socket_path());
  session client("", [&](redis::connection_config& config) {
    config.where = net::resolver_for_host("127.0.0.1", network.port());
  });
  ASSERT_TRUE(client.open().ok());
  const auto before = std::to_string(client.events.ups.at(0).client_id);
  network.control("forget");
  EXPECT_EQ(client.ask({"SET", "a", "1"}), "(broken, sent)");
  ASSERT_TRUE(client.events.wait_for_ups(2));
  EXPECT_NE(client.events.downs.at(0).message.find("the server answers a new one"),
            std::string::npos);
  EXPECT_EQ(server.command({"CLIENT", "LIST", "ID", before}), "");
  EXPECT_EQ(client.ask_when_up({"GET", "a"}), "(nil)");
}

// Only the reply of a healthy server counts.
TEST(connection_faults, keeps_the_connection_if_the_server_rejects_new_ones) {
  fake_server server([](fake_peer& peer, const fake_command& command) {
    if (peer.number() > 1) return peer.send("-ERR max number of clients reached\r\n");
    if (!command.is("SET")) fake_server::answer_healthy(peer, command);
  });
  session client(server.socket_path(), [](auto& config) { config.command_timeout_ms = 2000; });
  ASSERT_TRUE(client.open().ok());
  EXPECT_EQ(client.ask({"SET", "a", "1"}), "(broken, sent)");
  ASSERT_TRUE(client.events.wait_for_downs(1));
  EXPECT_NE(client.events.downs.at(0).message.find("no answer within 2000 ms"), std::string::npos);
  EXPECT_GT(server.count("PING"), 0);
}

TEST(connection_faults, counts_a_silent_server_as_gone) {
  test_server server;
  session client(server.socket_path(), be_impatient);
  ASSERT_TRUE(client.open().ok());
  server.pause();
  EXPECT_EQ(client.ask({"SET", "a", "1"}), "(broken, sent)");
  ASSERT_TRUE(client.events.wait_for_downs(1));
  server.resume();
  ASSERT_TRUE(client.events.wait_for_ups(2));
  // Hazard 16: whatever became of the old command, it has become of it before on_up.
  const auto found = client.ask_when_up({"GET", "a"});
  EXPECT_EQ(client.ask_when_up({"SET", "a", "2"}), "OK");
  EXPECT_EQ(client.ask_when_up({"GET", "a"}), "2") << "was " << found;
}

TEST(connection_faults, ends_the_old_client_of_the_same_server_only) {
  std::atomic<int> run{1};
  fake_server server([&](fake_peer& peer, const fake_command& command) {
    if (!command.is("INFO")) return fake_server::answer_healthy(peer, command);
    const auto info = "redis_version:7.0.15\r\nrun_id:" + std::to_string(run.load()) + "\r\n";
    peer.send("$" + std::to_string(info.size()) + "\r\n" + info + "\r\n");
  });
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  server.close_all();
  ASSERT_TRUE(client.events.wait_for_ups(2));
  run = 2;
  server.close_all();
  ASSERT_TRUE(client.events.wait_for_ups(3));
  std::vector<std::string> kills;
  for (const auto& command : server.received()) {
    if (command.is("CLIENT", "KILL")) kills.push_back(command.text());
  }
  ASSERT_EQ(kills.size(), 1U);
  EXPECT_EQ(kills[0], "CLIENT KILL ID 1");
}

// Leads by way of a network, until it leads to the server.
class rerouted_name final : public net::resolver {
 public:
  rerouted_name(int network_port, int server_port)
      : ways_{net::resolver_for_host("127.0.0.1", network_port),
              net::resolver_for_host("127.0.0.1", server_port)} {}
  [[nodiscard]] bool is_immediate() const noexcept override { return true; }
  [[nodiscard]] std::string text() const override { return "db.example"; }
  net::resolution resolve(time_ns deadline) override {
    return ways_.at(is_direct ? 1 : 0)->resolve(deadline);
  }
  std::atomic<bool> is_direct{false};

 private:
  std::array<std::shared_ptr<net::resolver>, 2> ways_;
};

const server_options without_info{.arguments = {"--port", "free", "--rename-command", "INFO", ""}};

TEST(connection_faults, hazard_16_ends_the_old_client_where_the_server_hides_its_run) {
  test_server server(without_info);
  tcp_proxy network(server.socket_path());
  const auto name = std::make_shared<rerouted_name>(network.port(), server.port());
  session client("", [&](redis::connection_config& config) {
    config.where = name;
    config.command_timeout_ms = 500;
  });
  ASSERT_TRUE(client.open().ok());
  const auto before = std::to_string(client.events.ups.at(0).client_id);
  ASSERT_NE(server.command({"CLIENT", "LIST", "ID", before}), "");
  name->is_direct = true;
  network.control("freeze");
  EXPECT_EQ(client.ask({"SET", "held back", "1"}), "(broken, sent)");
  ASSERT_TRUE(client.events.wait_for_ups(2));
  EXPECT_EQ(client.events.ups.at(1).run_id, "");
  EXPECT_EQ(server.command({"CLIENT", "LIST", "ID", before}), "");
  network.control("thaw");
  EXPECT_EQ(client.ask_when_up({"GET", "held back"}), "(nil)");
}

TEST(connection_faults, hazard_16_spares_whoever_has_the_number_after_a_restart) {
  test_server server(without_info);
  tcp_proxy network(server.socket_path());
  std::vector<std::unique_ptr<raw_client>> others;
  const auto connect_others = [&](int count) {
    others.clear();
    for (int i = 0; i < count; ++i) others.push_back(server.connect());
  };
  connect_others(20);
  session client("", [&](redis::connection_config& config) {
    config.where = net::resolver_for_host("127.0.0.1", network.port());
  });
  ASSERT_TRUE(client.open().ok());
  const auto before = std::to_string(client.events.ups.at(0).client_id);
  network.control("refuse");
  server.restart();
  connect_others(40);
  ASSERT_NE(server.command({"CLIENT", "LIST", "ID", before}), "");
  network.control("accept");
  ASSERT_TRUE(client.events.wait_for_ups(2));
  EXPECT_GT(client.events.ups.at(1).client_id, client.events.ups.at(0).client_id);
  EXPECT_NE(server.command({"CLIENT", "LIST", "ID", before}), "") << "a stranger was ended";
}

TEST(connection_faults, tells_every_open_request_that_it_broke) {
  fake_server server([](fake_peer& peer, const fake_command& command) {
    if (command.is("DEL")) return peer.close();
    if (!command.is("SET")) fake_server::answer_healthy(peer, command);
  });
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  std::deque<test_request> requests(50);
  for (auto& one : requests) {
    ASSERT_EQ(
        client.connection->commands().submit(one, encoded({"SET", "a", "1"}), flush::by_io_thread),
        status::ok);
  }
  EXPECT_EQ(client.ask({"DEL", "a"}), "(broken, sent)");
  ASSERT_TRUE(client.events.wait_for_downs(1));
  for (const auto& one : requests) {
    EXPECT_EQ(one.answer, "(broken, sent)");
    EXPECT_EQ(one.ends, 1);
  }
}

TEST(connection_faults, knows_what_was_never_sent) {
  fake_server server([](fake_peer& peer, const fake_command& command) {
    // While the server's thread is held, the socket's buffers fill up.
    if (command.is("SET")) return (void)std::this_thread::sleep_for(std::chrono::seconds(1));
    fake_server::answer_healthy(peer, command);
  });
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  std::deque<test_request> requests(4);
  const auto large = encoded({"SET", "a", std::string(900U << 10U, 'x')});
  for (auto& one : requests) {
    ASSERT_EQ(client.connection->commands().submit(one, large, flush::now), status::ok);
  }
  client.connection->close();
  EXPECT_EQ(requests.front().answer, "(broken, sent)");
  EXPECT_EQ(requests.back().answer, "(broken, not sent)");
}

TEST(connection_faults, answers_limit_when_a_bound_is_hit) {
  fake_server server([](fake_peer& peer, const fake_command& command) {
    if (!command.is("PING")) fake_server::answer_healthy(peer, command);
  });
  session client(server.socket_path(), [](auto& config) {
    config.open_requests_limit = 3;
    config.output_limit_bytes = 1000;
  });
  ASSERT_TRUE(client.open().ok());
  test_request large;
  EXPECT_EQ(client.connection->commands().submit(
                large, encoded({"SET", "a", std::string(1000, 'x')}), flush::now),
            status::limit);
  std::deque<test_request> requests(3);
  for (auto& one : requests) {
    EXPECT_EQ(client.connection->commands().submit(one, encoded({"PING"}), flush::now), status::ok);
  }
  test_request extra;
  EXPECT_EQ(client.connection->commands().submit(extra, encoded({"PING"}), flush::now),
            status::limit);
  client.connection->close();
  EXPECT_EQ(large.ends + extra.ends, 0);
}

// Hazard 31: a violation of the protocol ends the connection, and the next one works.
TEST(connection_faults, breaks_off_when_the_protocol_is_broken) {
  const std::string deep = "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n";
  const std::string nested(40, '*');
  for (const auto& garbage :
       {std::string("hello\r\n"), std::string("$99999999999999999999\r\n"),
        std::string("*2000000000\r\n"), std::string("$-7\r\n"), std::string("\0\0\0\0\0\0", 6),
        std::string("+PONG\r\n+PONG\r\n"), deep, nested}) {
    std::atomic<bool> is_sane{false};
    fake_server server([&](fake_peer& peer, const fake_command& command) {
      if (command.is("PING") && !is_sane.exchange(true)) return peer.send(garbage);
      fake_server::answer_healthy(peer, command);
    });
    session client(server.socket_path());
    ASSERT_TRUE(client.open().ok());
    client.ask({"PING"});
    ASSERT_TRUE(client.events.wait_for_downs(1)) << garbage;
    EXPECT_EQ(client.ask_when_up({"PING"}), "PONG");
    const auto why = client.events.downs[0];
    EXPECT_EQ(why.code, status::unreachable);
    EXPECT_NE(why.message.find("server"), std::string::npos) << why.message;
  }
}

TEST(connection_faults, breaks_off_when_a_reply_is_lost) {
  fake_server server([&](fake_peer& peer, const fake_command& command) {
    if (command.is("GET")) return;
    if (command.is("ECHO")) return peer.send("$5\r\nab"), peer.close();
    fake_server::answer_healthy(peer, command);
  });
  session client(server.socket_path(), be_impatient);
  ASSERT_TRUE(client.open().ok());
  EXPECT_EQ(client.ask({"PING"}), "PONG");
  EXPECT_EQ(client.ask({"GET", "x"}), "(broken, sent)");
  EXPECT_EQ(client.ask_when_up({"PING"}), "PONG");
  EXPECT_EQ(client.ask({"ECHO", "abcde"}), "(broken, sent)");
  EXPECT_EQ(client.ask_when_up({"PING"}), "PONG");
}

TEST(connection_faults, ends_waits_when_it_is_closed) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  server.pause();
  std::vector<std::thread> threads;
  std::deque<test_request> requests(16);
  std::atomic<int> submitted{0};
  for (auto& one : requests) {
    one.caller = &one.wait;
    threads.emplace_back([&] {
      EXPECT_EQ(client.connection->commands().submit(one, encoded({"PING"}), flush::now),
                status::ok);
      ++submitted;
      EXPECT_TRUE(client.connection->commands().await(one.wait, soon()));
      EXPECT_EQ(one.answer, "(broken, sent)");
    });
  }
  while (submitted.load() < 16) std::this_thread::yield();
  client.connection->close();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(client.ask({"PING"}), "(unreachable)");
  EXPECT_EQ(client.connection->last_problem().code, status::closed);
  client.connection->close();
}

TEST(connection_faults, sends_what_is_pending_before_it_closes) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  std::deque<test_request> requests(5000);
  for (auto& one : requests) {
    ASSERT_EQ(
        client.connection->commands().submit(one, encoded({"INCR", "n"}), flush::by_io_thread),
        status::ok);
  }
  client.connection->close(generous_ns);
  EXPECT_EQ(server.command({"GET", "n"}), "5000");
  EXPECT_EQ(requests.back().ends, 1);
}

TEST(connection_faults, lingers_no_longer_than_its_limit) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  server.pause();
  test_request request;
  ASSERT_EQ(client.connection->commands().submit(request, encoded({"PING"}), flush::now),
            status::ok);
  const time_ns start = boot_now();
  client.connection->close(100 * ns_per_ms);
  EXPECT_LT(boot_now(), start + 5 * ns_per_s);
  EXPECT_EQ(request.answer, "(broken, sent)");
  server.resume();
}

TEST(connection_faults, closes_while_it_connects) {
  test_server server;
  for (int i = 0; i < 20; ++i) {
    session client(server.socket_path());
    ASSERT_TRUE(client.open().ok());
    server.command({"CLIENT", "KILL", "TYPE", "pubsub"});
    if (i % 2 == 0) {
      EXPECT_TRUE(client.events.wait_for_downs(1));
    }
    client.connection->close();
  }
}

TEST(connection_faults, a_dead_server_holds_up_nobody_else) {
  test_server dead;
  test_server alive;
  session client(alive.socket_path());
  recorder events;
  redis::connection_config config;
  config.where = net::resolver_for_path(dead.socket_path());
  ASSERT_TRUE(client.open().ok());
  redis::connection other(client.loop, config, events);
  ASSERT_TRUE(other.open(soon()).ok());
  dead.pause();
  std::deque<test_request> stuck(100);
  for (auto& one : stuck) {
    ASSERT_EQ(other.commands().submit(one, encoded({"PING"}), flush::by_io_thread), status::ok);
  }
  for (int i = 1; i <= 100; ++i) EXPECT_EQ(client.ask({"INCR", "n"}), std::to_string(i));
  other.close();
  EXPECT_EQ(stuck.back().ends, 1);
}

TEST(connection_faults, gives_every_request_one_end_through_many_breaks) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  std::atomic<int> answered{0};
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, key = "n" + std::to_string(t)] {
      while (!is_over.load()) {
        test_request request;
        request.caller = &request.wait;
        const auto mode = key == "n0" ? flush::by_io_thread : flush::now;
        if (client.connection->commands().submit(request, encoded({"INCR", key}), mode) !=
            status::ok)
          continue;
        ASSERT_TRUE(client.connection->commands().await(request.wait, soon()));
        ASSERT_EQ(request.ends, 1);
        if (!request.answer.starts_with("(")) ++answered;
      }
    });
  }
  for (std::size_t breaks = 1; breaks <= 30; ++breaks) {
    const int before = answered.load();
    while (answered.load() < before + 20) std::this_thread::yield();
    server.command({"CLIENT", "KILL", "TYPE", "pubsub"});
    ASSERT_TRUE(client.events.wait_for_ups(breaks + 1));
  }
  is_over = true;
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace mortise::testing::connection_faults_test
