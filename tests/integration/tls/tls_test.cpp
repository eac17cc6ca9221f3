// rediss:// with servers that are as they should be.
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "support/tls_fixture.hpp"

namespace mortise::testing::tls_test {
namespace {

TEST(tls, a_lock_works_over_it) {
  const tls_server server;
  const auto client = open_client(server.trusting_url());
  expect_a_grant(client, "a");
}

TEST(tls, the_name_of_the_url_is_verified) {
  const tls_server server;
  expect_a_grant(open_client("rediss://localhost:" + std::to_string(server.port()) +
                             "?tls_ca_file=" + server.file("ca.pem")),
                 "a");
}

TEST(tls, another_name_can_be_verified) {
  tls_server server;
  make_certificates(server.folder(), "server --names DNS:redis.example");
  server.restart();
  expect_a_grant(open_client(server.trusting_url("&tls_name=redis.example")), "a");
}

TEST(tls, verification_can_be_switched_off) {
  const tls_server server;
  expect_a_grant(open_client(server.host_url() + "?tls_verify=off"), "a");
}

TEST(tls, a_folder_of_authorities_is_searched) {
  const tls_server server;
  const scratch_folder authorities;
  std::filesystem::copy(server.file("ca.pem"), authorities.path());
  ASSERT_EQ(std::system(("openssl rehash " + authorities.path()).c_str()), 0);
  expect_a_grant(open_client(server.host_url() + "?tls_ca_folder=" + authorities.path()), "a");
}

TEST(tls, a_server_that_wants_to_know_its_clients_is_shown_a_certificate) {
  const tls_server server({"--tls-auth-clients", "yes"});
  expect_a_grant(open_client(server.trusting_url(server.showing("client"))), "a");
}

TEST(tls, versions_1_2_and_1_3_are_spoken) {
  for (const char* version : {"TLSv1.2", "TLSv1.3"}) {
    const tls_server server({"--tls-protocols", version});
    expect_a_grant(open_client(server.trusting_url()), version);
  }
}

TEST(tls, a_caller_that_spins_is_answered) {
  const tls_server server;
  for (const char* busy_poll : {"1000", "auto"}) {
    const auto client = open_client(server.trusting_url(std::string("&busy_poll=") + busy_poll));
    for (int round = 0; round < 50; ++round) expect_a_grant(client, "a");
  }
}

// Where no RESP3 is spoken there are two connections.
TEST(tls, a_server_without_resp3_is_spoken_to) {
  tls_server server({"--rename-command", "HELLO", ""});
  const auto client = open_client(server.trusting_url());
  expect_a_grant(client, "a");
  const auto holder = open_lock(client, "b");
  ASSERT_EQ(mortise_lock_acquire(holder.get(), patience_ms, nullptr), MORTISE_OK);
  const auto other = open_client(server.trusting_url());
  const auto waiter = open_lock(other, "b");
  std::thread waiting([&] {
    EXPECT_EQ(status_name(mortise_lock_acquire(waiter.get(), patience_ms, nullptr)),
              status_name(MORTISE_OK));
  });
  EXPECT_TRUE(eventually([&] { return server.command({"LLEN", queue_key("b")}) == "1"; }));
  EXPECT_EQ(mortise_lock_unlock(holder.get(), nullptr), MORTISE_OK);
  waiting.join();
}

// The sender's text stays where it is while the reader fails.
TEST(tls, a_fault_has_one_text_for_the_sender_and_the_reader) {
  const tls_server server;
  std::shared_ptr<net::tls_context> shared;
  ASSERT_TRUE(net::tls_context::make(server.terms(), shared).ok());
  net::tls_transport transport(shared);
  net::address where;
  ASSERT_TRUE(net::address::from_literal("127.0.0.1", server.port(), where));
  auto result = transport.start_connect(where);
  while (result.state == net::io_state::want_read || result.state == net::io_state::want_write) {
    result = transport.finish_connect();
  }
  ASSERT_EQ(result.state, net::io_state::done);
  // From here on the server's bytes are no TLS.
  int ends[2] = {-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  ASSERT_GE(::dup2(ends[0], transport.descriptor()), 0);
  ASSERT_GT(::write(ends[1], "no TLS at all", 13), 0);
  char buffer[512];
  const auto received = transport.receive(buffer, sizeof buffer);
  ASSERT_EQ(received.state, net::io_state::failed);
  const char* const text = transport.describe(received.error);
  const std::string before = text;
  EXPECT_NE(before.find("not TLS"), std::string::npos) << before;
  const auto sent = transport.send("PING");
  ASSERT_EQ(sent.state, net::io_state::failed);
  EXPECT_EQ(transport.describe(sent.error), text);
  EXPECT_EQ(transport.describe(sent.error), before);
  for (const int end : ends) ::close(end);
}

// Two directions at once, from many threads, with records in both that are larger than any buffer.
TEST(tls, many_threads_use_one_connection) {
  const tls_server server;
  const auto client = open_client(server.trusting_url());
  std::atomic<int> inside{0};
  std::atomic<int> entered{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const auto contended = open_lock(client, "contended");
      const auto own = open_lock(client, "own " + std::to_string(i));
      for (int round = 0; round < 40; ++round) {
        ASSERT_EQ(status_name(mortise_lock_acquire(contended.get(), patience_ms, nullptr)),
                  status_name(MORTISE_OK));
        EXPECT_EQ(inside.fetch_add(1), 0);
        inside.fetch_sub(1);
        ++entered;
        ASSERT_EQ(status_name(mortise_lock_unlock(contended.get(), nullptr)),
                  status_name(MORTISE_OK));
        ASSERT_EQ(status_name(mortise_lock_acquire(own.get(), patience_ms, nullptr)),
                  status_name(MORTISE_OK));
        ASSERT_EQ(status_name(mortise_lock_unlock(own.get(), nullptr)), status_name(MORTISE_OK));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(entered, 320);
}

}  // namespace
}  // namespace mortise::testing::tls_test
