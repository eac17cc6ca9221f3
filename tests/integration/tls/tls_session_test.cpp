// What becomes of a TLS connection, and of those after it: tickets, files that change, faults.
#include <fstream>
#include <thread>

#include "support/child.hpp"
#include "support/tcp_proxy.hpp"
#include "support/tls_fixture.hpp"

// The child of a process with threads makes a client, which starts threads of its own.
extern "C" const char* __tsan_default_options() {  // NOLINT(bugprone-reserved-identifier)
  return "die_after_fork=0";
}

namespace mortise::testing::tls_session_test {
namespace {

void end_connections(tls_server& server) {
  EXPECT_EQ(server.command({"CLIENT", "KILL", "TYPE", "pubsub"}), "1");
}

// A connection whose handshakes are looked at.
class watched_session {
 public:
  explicit watched_session(const tls_server& server, net::tls_terms terms)
      : session_(server.socket_path(), [&](redis::connection_config& config) {
          config.where = net::resolver_for_host("127.0.0.1", server.port());
          EXPECT_TRUE(net::tls_context::make(std::move(terms), shared_).ok());
          config.make_transport = [this](const std::string&) {
            auto made = std::make_unique<net::tls_transport>(shared_);
            last_ = made.get();
            return made;
          };
        }) {
    session_.events.when_up = [this] { resumed_.push_back(last_->is_resumed()); };
  }

  session& operator*() { return session_; }
  session* operator->() { return &session_; }
  // Ends the connection, and waits for the next.
  void reconnect(tls_server& server) {
    const auto ups = resumed().size();
    end_connections(server);
    EXPECT_TRUE(session_.events.wait_for_ups(ups + 1));
    EXPECT_EQ(session_.ask_when_up({"PING"}), "PONG");
  }
  // Of each connection so far, whether a ticket had shortened its handshake.
  std::vector<bool> resumed() {
    const std::lock_guard guard(session_.events.mutex);
    return resumed_;
  }

 private:
  std::shared_ptr<net::tls_context> shared_;
  net::tls_transport* last_ = nullptr;
  std::vector<bool> resumed_;
  session session_;
};

void replace(const std::string& path, const std::string& by) {
  std::filesystem::copy_file(by, path + ".new", std::filesystem::copy_options::overwrite_existing);
  std::filesystem::rename(path + ".new", path);
}

// One read is bounded, and may stop in the middle of a decrypted record.
TEST(tls_session, long_answers_are_received_whatever_their_length) {
  tls_server server;
  watched_session client(server, server.terms());
  ASSERT_TRUE(client->open().ok());
  for (std::size_t size = 250'000; size < 300'000; size += 331) {
    const std::string text(size, 'x');
    ASSERT_EQ(client->ask({"ECHO", text}), text) << size;
  }
}

// ---- tickets -----------------------------------------------------------------------------------

TEST(tls_session, the_next_handshake_is_shortened_by_a_ticket) {
  for (const char* version : {"TLSv1.2", "TLSv1.3"}) {
    tls_server server({"--tls-protocols", version});
    watched_session client(server, server.terms());
    ASSERT_TRUE(client->open().ok());
    EXPECT_EQ(client->ask({"PING"}), "PONG");
    client.reconnect(server);
    client.reconnect(server);
    EXPECT_EQ(client.resumed(), (std::vector<bool>{false, true, true})) << version;
  }
}

// Redis without its cache gives tickets, and refuses them in the handshake.
TEST(tls_session, a_server_that_refuses_its_own_tickets_is_shown_none) {
  tls_server server({"--tls-session-caching", "no"});
  watched_session client(server, server.terms());
  ASSERT_TRUE(client->open().ok());
  EXPECT_EQ(client->ask({"PING"}), "PONG");
  for (int i = 0; i < 4; ++i) client.reconnect(server);
  EXPECT_EQ(client.resumed(), std::vector<bool>(5, false));
}

// Of its two connections the second would be refused each time.
TEST(tls_session, a_server_without_resp3_that_refuses_its_own_tickets_is_spoken_to) {
  tls_server server({"--tls-session-caching", "no", "--rename-command", "HELLO", ""});
  const auto client = open_client(server.trusting_url());
  expect_a_grant(client, "a");
}

// It would admit servers that only the old files trusted.
TEST(tls_session, a_ticket_goes_when_the_files_change) {
  tls_server server;
  make_certificates(server.folder(), "other --signer other");
  watched_session client(server, server.terms());
  ASSERT_TRUE(client->open().ok());
  EXPECT_EQ(client->ask({"PING"}), "PONG");
  std::ofstream(server.file("ca.pem"), std::ios::app)
      << std::ifstream(server.file("other.pem")).rdbuf();
  client.reconnect(server);
  client.reconnect(server);
  EXPECT_EQ(client.resumed(), (std::vector<bool>{false, false, true}));
}

TEST(tls_session, an_authority_that_is_gone_is_trusted_no_longer) {
  tls_server server;
  make_certificates(server.folder(), "other --signer other");
  watched_session client(server, server.terms());
  ASSERT_TRUE(client->open().ok());
  replace(server.file("ca.pem"), server.file("other.pem"));
  end_connections(server);
  ASSERT_TRUE(client->events.wait_for_downs(1));
  ASSERT_TRUE(eventually([&] {
    return client->connection->last_problem().message.find("which is not in") != std::string::npos;
  })) << client->connection->last_problem().message;
}

// Clients share the system's present list, and no client keeps an earlier one.
TEST(tls_session, the_systems_authorities_are_those_of_now) {
  const tls_server server;
  const auto list = server.file("system.pem");
  ASSERT_EQ(::setenv("SSL_CERT_FILE", list.c_str(), 1), 0);
  replace(list, server.file("ca.pem"));
  const auto first = open_client(server.host_url());
  expect_a_grant(first, "a");
  expect_a_grant(open_client(server.host_url()), "a");
  make_certificates(server.folder(), "other --signer other");
  replace(list, server.file("other.pem"));
  EXPECT_NE(attempt_to_open(server.host_url()).find("which is not in"), std::string::npos);
  expect_a_grant(first, "a");
  replace(list, server.file("ca.pem"));
  expect_a_grant(open_client(server.host_url()), "a");
  ::unsetenv("SSL_CERT_FILE");
}

// ---- files that change -------------------------------------------------------------------------

TEST(tls_session, a_hold_outlives_the_rotation_of_all_files) {
  tls_server server({"--tls-auth-clients", "yes"});
  const auto client = open_client(server.trusting_url(server.showing("client") + "&lease=2s"));
  const auto lock = open_lock(client, "a");
  ASSERT_EQ(status_name(mortise_lock_acquire(lock.get(), patience_ms, nullptr)),
            status_name(MORTISE_OK));
  // The server takes the new files over at once, the client's with its next connection.
  make_certificates(server.folder());
  for (const char* what : {"cert-file", "key-file", "ca-cert-file"}) {
    const std::string name = what == std::string("cert-file")  ? "server.pem"
                             : what == std::string("key-file") ? "server.key"
                                                               : "ca.pem";
    server.command({"CONFIG", "SET", std::string("tls-") + what, server.file(name)});
  }
  end_connections(server);
  EXPECT_TRUE(
      eventually([&] { return mortise_lock_extend(lock.get(), 2000, nullptr) == MORTISE_OK; }));
  EXPECT_EQ(mortise_lock_is_held(lock.get()), 1);
  EXPECT_EQ(status_name(mortise_lock_unlock(lock.get(), nullptr)), status_name(MORTISE_OK));
}

// A rotation writes one file after the other.
TEST(tls_session, what_does_not_belong_together_leaves_the_last_good_in_force) {
  tls_server server({"--tls-auth-clients", "yes"});
  auto terms = server.terms();
  terms.certificate_file = server.file("client.pem");
  terms.key_file = server.file("client.key");
  watched_session client(server, terms);
  ASSERT_TRUE(client->open().ok());
  make_certificates(server.folder(), "next");
  replace(server.file("client.pem"), server.file("next.pem"));
  client.reconnect(server);  // with the old pair
  std::filesystem::remove(server.file("client.pem"));
  client.reconnect(server);
  replace(server.file("client.pem"), server.file("next.pem"));
  replace(server.file("client.key"), server.file("next.key"));
  client.reconnect(server);
  // Only a new pair costs a whole handshake.
  EXPECT_EQ(client.resumed(), (std::vector<bool>{false, true, true, false}));
}

TEST(tls_session, a_failure_says_that_the_files_of_now_are_not_in_force) {
  tls_server server({"--tls-protocols", "TLSv1.3"});
  auto terms = server.terms();
  terms.certificate_file = server.file("client.pem");
  terms.key_file = server.file("client.key");
  watched_session client(server, terms);
  ASSERT_TRUE(client->open().ok());
  make_certificates(server.folder(), "next");
  replace(server.file("client.key"), server.file("next.key"));
  make_certificates(server.folder(), "server --expired");
  server.restart();
  ASSERT_TRUE(eventually([&] {
    const auto message = client->connection->last_problem().message;
    return message.find("has expired") != message.npos &&
           message.find("tls_key_file: \"" + server.file("client.key") + "\" does not belong to") !=
               message.npos;
  })) << client->connection->last_problem().message;
}

// ---- faults ------------------------------------------------------------------------------------

TEST(tls_session, comes_back_after_the_server_was_killed) {
  tls_server server;
  const auto client = open_client(server.trusting_url());
  for (int round = 0; round < 3; ++round) {
    expect_a_grant(client, "a");
    server.restart();
  }
  expect_a_grant(client, "a");
}

// A reply of several megabytes, so many records in one go, and as many bytes on the way there.
TEST(tls_session, large_requests_and_replies_are_complete) {
  const tls_server server;
  watched_session client(server, server.terms());
  ASSERT_TRUE(client->open().ok());
  for (const std::size_t size : {1U, 4000U, 4096U, 16383U, 16384U, 16385U, 70'000U, 3'000'000U}) {
    std::string text(size, 'x');
    for (std::size_t at = 0; at < size; at += 97) text[at] = static_cast<char>('a' + at % 23);
    EXPECT_TRUE(client->ask({"ECHO", text}) == text) << size;
  }
}

TEST(tls_session, thousands_of_requests_at_once_are_answered_in_order) {
  const tls_server server;
  watched_session client(server, server.terms());
  ASSERT_TRUE(client->open().ok());
  constexpr std::size_t count = 20'000;
  struct numbered final : test_request {
    std::atomic<std::size_t>* left = nullptr;
    void end() override {
      test_request::end();
      left->fetch_sub(1);
    }
  };
  std::vector<numbered> all(count);
  std::atomic<std::size_t> left{count};
  for (std::size_t i = 0; i < count; ++i) {
    all[i].left = &left;
    const auto bytes = encoded({"ECHO", std::to_string(i) + std::string(i % 300, '.')});
    ASSERT_EQ(client->connection->commands().submit(all[i], bytes, redis::flush::now), status::ok);
  }
  ASSERT_TRUE(eventually([&] { return left == 0; }));
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(all[i].answer, std::to_string(i) + std::string(i % 300, '.'));
  }
}

// What has been asked is answered before the connection ends, as without TLS.
TEST(tls_session, a_client_that_closes_is_answered_first) {
  const tls_server server;
  watched_session client(server, server.terms());
  ASSERT_TRUE(client->open().ok());
  std::vector<test_request> all(200);
  for (auto& one : all) {
    ASSERT_EQ(
        client->connection->commands().submit(one, encoded({"PING"}), redis::flush::by_io_thread),
        status::ok);
  }
  client->connection->close(generous_ns);
  for (const auto& one : all) EXPECT_EQ(one.answer, "PONG");
}

// Wherever the network ends the connection, in the handshake or in the middle of a record: each
// request has an end, and the next connection works.
TEST(tls_session, a_network_that_cuts_at_any_time_is_survived) {
  const tls_server server;
  tcp_proxy network("127.0.0.1:" + std::to_string(server.port()));
  const auto client = open_client("rediss://127.0.0.1:" + std::to_string(network.port()) +
                                  "?tls_ca_file=" + server.file("ca.pem"));
  std::atomic<bool> is_over{false};
  std::thread cutter([&] {
    for (int round = 0; round < 60; ++round) {
      network.control("cut");
      std::this_thread::sleep_for(std::chrono::milliseconds(round % 17));
    }
    is_over = true;
  });
  const auto lock = open_lock(client, std::string(200, 'n'));
  int granted = 0;
  while (!is_over) {
    if (mortise_lock_acquire(lock.get(), patience_ms, nullptr) != MORTISE_OK) continue;
    ++granted;
    mortise_lock_unlock(lock.get(), nullptr);
  }
  cutter.join();
  EXPECT_GT(granted, 0);
  expect_a_grant(client, "after");
}

// Hazard 26: nothing comes from the socket, and the deadline is kept.
TEST(tls_session, a_frozen_network_holds_nobody_up_past_his_deadline) {
  const tls_server server;
  tcp_proxy network("127.0.0.1:" + std::to_string(server.port()));
  const auto client = open_client("rediss://127.0.0.1:" + std::to_string(network.port()) +
                                  "?tls_ca_file=" + server.file("ca.pem"));
  network.control("freeze");
  const auto lock = open_lock(client, "a");
  const time_ns begin = boot_now();
  EXPECT_NE(status_name(mortise_lock_acquire(lock.get(), 200, nullptr)), status_name(MORTISE_OK));
  EXPECT_LT(ms_since(begin), patience_ms / 2);
  network.control("thaw");
  expect_a_grant(client, "b");
}

TEST(tls_session, a_child_says_forked_and_makes_a_client_of_its_own) {
  const tls_server server;
  const auto url = server.trusting_url();
  const auto client = open_client(url);
  const auto lock = open_lock(client, "a");
  ASSERT_EQ(status_name(mortise_lock_acquire(lock.get(), patience_ms, nullptr)),
            status_name(MORTISE_OK));
  child forked([&](child_end& test) {
    test.send(status_name(mortise_lock_unlock(lock.get(), nullptr)));
    const auto own = open_client(url);
    const auto other = open_lock(own, "b");
    test.send(status_name(mortise_lock_acquire(other.get(), patience_ms, nullptr)));
    test.send(status_name(mortise_lock_unlock(other.get(), nullptr)));
  });
  EXPECT_EQ(forked.receive(), status_name(MORTISE_FORKED));
  EXPECT_EQ(forked.receive(), status_name(MORTISE_OK));
  EXPECT_EQ(forked.receive(), status_name(MORTISE_OK));
  EXPECT_EQ(status_name(mortise_lock_unlock(lock.get(), nullptr)), status_name(MORTISE_OK));
}

}  // namespace
}  // namespace mortise::testing::tls_session_test
