// Servers that Sentinels name: which Sentinels are believed, and the messages about the others.
// Fakes replace Sentinels that have to disagree or fall silent on demand.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "support/deaf_port.hpp"
#include "support/fake_server.hpp"
#include "support/handles.hpp"
#include "support/pages.hpp"
#include "support/sentinel_set.hpp"
#include "support/tcp_proxy.hpp"
#include "support/tls_fixture.hpp"

namespace mortise::testing::sentinel_names_test {
namespace {

std::string bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

// The reply of a Sentinel about the master "mymaster". The test may change it.
class fake_sentinel {
 public:
  fake_sentinel(int port, int epoch, const std::string& host = "127.0.0.1") {
    publish(port, epoch, host);
    server_.set_answer([this](fake_peer& peer, const fake_command& command) {
      if (command.is("HELLO")) return peer.send("%1\r\n" + bulk("mode") + bulk("sentinel"));
      if (command.is("ROLE")) return peer.send("*2\r\n" + bulk("sentinel") + "*0\r\n");
      if (!command.is("SENTINEL")) return fake_server::answer_healthy(peer, command);
      const auto* other = first_to_answer_.load();
      EXPECT_TRUE(other == nullptr || other->wait_for("SENTINEL", 3));  // a whole report
      const std::lock_guard guard(mutex_);
      peer.send(command.is("SENTINEL", "MASTER") ? master_ : place_);
    });
  }
  void publish(int port, int epoch, const std::string& host = "127.0.0.1") {
    const std::lock_guard guard(mutex_);
    place_ = "*2\r\n" + bulk(host) + bulk(std::to_string(port));
    master_ = "*4\r\n" + bulk("flags") + bulk("master") + bulk("config-epoch") +
              bulk(std::to_string(epoch));
  }
  // Only after the other, which has to outlive it. The client gives the others just a moment after
  // the first report.
  void answer_after(const fake_sentinel& other) { first_to_answer_ = &other.server_; }
  [[nodiscard]] std::string place() const { return "127.0.0.1:" + std::to_string(way_.port()); }
  [[nodiscard]] fake_server& server() { return server_; }

 private:
  std::mutex mutex_;
  std::atomic<const fake_server*> first_to_answer_{nullptr};
  std::string place_;
  std::string master_;
  fake_server server_;
  tcp_proxy way_{server_.socket_path()};
};

server_options with_a_port(std::vector<std::string> more = {}) {
  more.insert(more.end(), {"--port", "free"});
  return {.arguments = more};
}

std::string place_of(const test_server& server) {
  return "127.0.0.1:" + std::to_string(server.port());
}

std::string url_of(std::initializer_list<std::string> places, const std::string& query = "") {
  std::string text = "redis+sentinel://";
  for (const auto& place : places) text.append(text.ends_with('/') ? "" : ",").append(place);
  return text + "/mymaster" + (query.empty() ? "" : "?" + query);
}

// In one line.
std::string whole(std::istream&& page) {
  std::string text;
  for (std::string word; page >> word;) text += word + " ";
  return text;
}

std::string connected_to(test_server& server) {
  return server.command({"CLIENT", "LIST"}).find("name=mortise") != std::string::npos ? "yes"
                                                                                      : "no";
}

void expect_text(const std::string& received, const std::vector<std::string>& parts) {
  for (const auto& part : parts) EXPECT_NE(received.find(part), std::string::npos) << received;
}

// Why nothing can be opened there. On a slow machine the last attempt may have too little time left
// for the Sentinel's reply, and reports that instead. Then the next one counts.
std::string answered_attempt(const std::string& url) {
  std::string text;
  EXPECT_TRUE(eventually([&] {
    text = attempt_to_open(url);
    return text.find("did not answer in time") == std::string::npos;
  })) << text;
  return text;
}

TEST(sentinel_names, the_latest_failover_is_right_when_they_disagree) {
  test_server old(with_a_port());
  test_server now(with_a_port());
  fake_sentinel second(now.port(), 4);
  fake_sentinel first(old.port(), 3);
  fake_sentinel third(old.port(), 3);
  first.answer_after(second);
  third.answer_after(second);
  const auto client = open_client(url_of({first.place(), second.place(), third.place()}));
  expect_a_grant(client, "latest");
  EXPECT_EQ("no", connected_to(old));
  EXPECT_EQ("yes", connected_to(now));
}

// Names of one place, and not two.
TEST(sentinel_names, one_that_reports_hosts_agrees_with_one_that_reports_numbers) {
  test_server server(with_a_port());
  fake_sentinel first(server.port(), 3);
  fake_sentinel second(server.port(), 3, "localhost");
  expect_a_grant(open_client(url_of({first.place(), second.place()})), "one");
}

TEST(sentinel_names, two_of_one_epoch_that_disagree_are_of_two_deployments) {
  test_server here(with_a_port());
  test_server there(with_a_port());
  fake_sentinel second(there.port(), 0);
  fake_sentinel first(here.port(), 0);
  first.answer_after(second);
  const auto text = attempt_to_open(url_of({first.place(), second.place()}, "command_timeout=2s"));
  expect_text(text, {"refused by the server: ", "disagree", first.place() + " reports",
                     second.place() + " reports", place_of(here), "of one deployment"});
  EXPECT_EQ("no", connected_to(here));
  EXPECT_EQ("no", connected_to(there));
}

TEST(sentinel_names, hazard_26_one_that_hangs_and_one_that_is_gone_hold_up_nobody) {
  test_server server(with_a_port());
  fake_sentinel good(server.port(), 1);
  fake_sentinel hung(server.port(), 1);
  hung.server().set_answer([](fake_peer&, const fake_command&) {});
  const auto begin = boot_now();
  // The hung one is given up after half of it.
  const auto client =
      open_client(url_of({hung.place(), "127.0.0.1:1", good.place()}, "command_timeout=40s"));
  EXPECT_LT(ms_since(begin), 10 * second_ms);
  expect_a_grant(client, "held up");
}

TEST(sentinel_names, a_master_that_was_replaced_is_left_when_the_news_come) {
  test_server old(with_a_port());
  test_server now(with_a_port());
  fake_sentinel only(old.port(), 1);
  const auto client = open_client(url_of({only.place()}));
  expect_a_grant(client, "news");
  only.publish(now.port(), 2);
  const std::string news = "mymaster 127.0.0.1 1 127.0.0.1 2";
  only.server().send_to_all(">3\r\n" + bulk("message") + bulk("+switch-master") +
                            bulk("mymaster2 127.0.0.1 1 127.0.0.1 2"));
  only.server().send_to_all(">3\r\n" + bulk("message") + bulk("+switch-master") + bulk(news));
  EXPECT_TRUE(eventually([&] { return connected_to(now) == "yes"; }));
  EXPECT_TRUE(eventually([&] { return connected_to(old) == "no"; }));
  expect_a_grant(client, "news");
}

// A client that receives the failover of another master, or of none, stays.
TEST(sentinel_names, a_hint_of_nothing_disturbs_nobody) {
  test_server server(with_a_port());
  fake_sentinel only(server.port(), 1);
  const auto client = open_client(url_of({only.place()}));
  const auto id = server.command({"CLIENT", "LIST"});
  const auto before = only.server().count("SENTINEL");
  only.server().send_to_all(">3\r\n" + bulk("message") + bulk("+switch-master") +
                            bulk("mymaster 127.0.0.1 1 127.0.0.1 2"));
  EXPECT_TRUE(only.server().wait_for("SENTINEL", before + 2));
  expect_a_grant(client, "undisturbed");
  const auto after = server.command({"CLIENT", "LIST"});
  EXPECT_EQ(id.substr(0, id.find(' ')), after.substr(0, after.find(' ')));
}

TEST(sentinel_names, each_unreachable_sentinel_is_reported) {
  const auto text = attempt_to_open(url_of({"127.0.0.1:1", "127.0.0.1:2"}, "command_timeout=2s"));
  expect_text(text, {"unreachable: ", "no Sentinel reports the address of \"mymaster\"",
                     "127.0.0.1:1", "127.0.0.1:2"});
}

TEST(sentinel_names, sentinels_of_another_master_say_which_they_watch) {
  test_server sentinel(with_a_port({"sentinel"}));
  const auto url = url_of({place_of(sentinel)});
  expect_text(attempt_to_open(url), {"refused by the server: ", "watches no master", "in the URL"});
  sentinel.command({"SENTINEL", "MONITOR", "other", "127.0.0.1", "1", "1"});
  expect_text(attempt_to_open(url),
              {"refused by the server: ", place_of(sentinel), "watches \"other\"", "\"mymaster\""});
}

TEST(sentinel_names, a_server_is_no_sentinel_and_the_reverse) {
  test_server server(with_a_port());
  test_server sentinel(with_a_port({"sentinel"}));
  expect_text(attempt_to_open(url_of({place_of(server)})),
              {"refused by the server: ", place_of(server), "not a Sentinel", "26379"});
  expect_text(attempt_to_open("redis://" + place_of(sentinel)),
              {"refused by the server: ", "this is a Sentinel", "redis+sentinel://"});
}

TEST(sentinel_names, a_wrong_password_of_the_sentinels_is_distinguished) {
  test_server server(with_a_port());
  test_server sentinel({.arguments = {"sentinel", "--port", "free", "--requirepass", "sesame-open"},
                        .login = {"AUTH", "sesame-open"}});
  sentinel.command(
      {"SENTINEL", "MONITOR", "mymaster", "127.0.0.1", std::to_string(server.port()), "1"});
  const auto place = place_of(sentinel);
  expect_text(attempt_to_open(url_of({place})),
              {"refused by the server: ", place, "its own password", "sentinel_password_file"});
  const auto wrong = attempt_to_open(url_of({place}, "sentinel_password=not-this-one"));
  expect_text(wrong, {"refused by the server: ", place, "sentinel_user and sentinel_password"});
  EXPECT_EQ(wrong.find("not-this-one"), std::string::npos) << wrong;
  expect_a_grant(open_client(url_of({place}, "sentinel_password=sesame-open")), "a");
  expect_a_grant(
      open_client(url_of({place}, "sentinel_user=default&sentinel_password=sesame-open")), "a");
}

// As docs/sentinel.md has it.
TEST(sentinel_names, a_user_needs_the_rights_of_the_page) {
  test_server server(with_a_port());
  test_server sentinel(with_a_port({"sentinel"}));
  sentinel.command(
      {"SENTINEL", "MONITOR", "mymaster", "127.0.0.1", std::to_string(server.port()), "1"});
  const std::vector<std::string> rule = {"ACL",
                                         "SETUSER",
                                         "locker",
                                         "on",
                                         ">sesame-open",
                                         "allchannels",
                                         "+hello",
                                         "+auth",
                                         "+client|setname",
                                         "+client|id",
                                         "+info",
                                         "+role",
                                         "+sentinel|master",
                                         "+sentinel|get-master-addr-by-name",
                                         "+subscribe",
                                         "+ping"};
  ASSERT_EQ("OK", sentinel.command(rule));
  std::string message;
  for (const auto& word : rule) message += (message.empty() ? "" : " ") + word;
  const auto page = whole(open_page("docs/sentinel.md"));
  EXPECT_NE(page.find(message.substr(0, message.find(">sesame-open"))), std::string::npos);
  EXPECT_NE(page.find(message.substr(message.find("allchannels"))), std::string::npos);
  const auto query = std::string("sentinel_user=locker&sentinel_password=sesame-open");
  expect_a_grant(open_client(url_of({place_of(sentinel)}, query)), "a");
  // Without the channel only hints are missing.
  ASSERT_EQ("OK", sentinel.command({"ACL", "SETUSER", "locker", "resetchannels"}));
  expect_a_grant(open_client(url_of({place_of(sentinel)}, query)), "a");
}

TEST(sentinel_names, an_address_that_is_mapped_nowhere_is_reported_with_the_map) {
  fake_sentinel sentinel(7, 1, "db-1");
  expect_text(
      answered_attempt(url_of({sentinel.place()}, "command_timeout=2s&address_map=db-1:7>[::1]:1")),
      {"unreachable: ", "[::1]:1", "address_map gives [::1]:1 for db-1:7"});
  expect_text(
      answered_attempt(
          url_of({sentinel.place()}, "command_timeout=2s&address_map=db-1:7>nowhere.invalid:1")),
      {"unreachable: ", "nowhere.invalid", "address_map gives nowhere.invalid:1 for db-1:7"});
}

TEST(sentinel_names, an_address_that_leads_nowhere_is_reported_with_its_remedy) {
  fake_sentinel refusing(1, 1);
  expect_text(answered_attempt(url_of({refusing.place()}, "command_timeout=2s")),
              {"unreachable: ", "127.0.0.1:1", "announce-hostnames yes", "replica-announce-ip",
               "address_map"});
  const deaf_port deaf;
  fake_sentinel silent(deaf.port(), 1);
  expect_text(answered_attempt(url_of({silent.place()}, "command_timeout=2s")),
              {"unreachable: ", "announce-hostnames yes"});
  fake_sentinel unknown(7, 1, "nowhere.invalid");
  expect_text(answered_attempt(url_of({unknown.place()}, "command_timeout=2s")),
              {"unreachable: ", "nowhere.invalid", "announce"});
}

// Sentinels with TLS that name servers with TLS; either may be without.
TEST(sentinel_names, tls_is_spoken_to_each_as_the_url_says) {
  tls_server server({"--port", "free"});
  tls_server sentinel({"sentinel", "--port", "free"});
  const auto plain_port = [](test_server& of) {
    const auto reply = of.command({"INFO", "server"});
    const auto at = reply.find("tcp_port:") + 9;
    return reply.substr(at, reply.find('\r', at) - at);
  };
  const auto watch = [&](int port) {
    sentinel.command({"SENTINEL", "REMOVE", "mymaster"});
    sentinel.command({"SENTINEL", "MONITOR", "mymaster", "127.0.0.1", std::to_string(port), "1"});
  };
  std::filesystem::path both = sentinel.file("both.pem");
  std::ofstream(both) << std::ifstream(server.file("ca.pem")).rdbuf()
                      << std::ifstream(sentinel.file("ca.pem")).rdbuf();
  const auto trust = "tls_ca_file=" + both.string();
  watch(server.port());
  const auto tls_place = "127.0.0.1:" + std::to_string(sentinel.port());
  const auto plain_place = "127.0.0.1:" + plain_port(sentinel);
  const auto tls_url = [&](const std::string& place, const std::string& query) {
    return "redis" + std::string("s") + url_of({place}, query).substr(5);
  };
  expect_a_grant(open_client(tls_url(tls_place, trust)), "both");
  expect_a_grant(open_client(tls_url(plain_place, trust + "&sentinel_tls=off")), "server only");
  expect_text(attempt_to_open(tls_url(tls_place, trust + "&sentinel_tls_name=other.example.org")),
              {"is not for \"other.example.org\""});
  expect_text(attempt_to_open(tls_url(tls_place, trust + "&tls_name=other.example.org")),
              {"is not for \"other.example.org\""});
  expect_text(answered_attempt(tls_url(plain_place, trust + "&command_timeout=2s")),
              {plain_place, "sentinel_tls=off"});
  expect_text(answered_attempt(url_of({tls_place}, "command_timeout=2s")),
              {tls_place, "sentinel_tls=on"});
  watch(std::stoi(plain_port(server)));
  expect_a_grant(open_client(url_of({tls_place}, "sentinel_tls=on&" + trust)), "Sentinel only");
  watch(server.port());
  expect_text(answered_attempt(url_of({tls_place}, "sentinel_tls=on&command_timeout=2s&" + trust)),
              {"rediss+sentinel://"});
}

// The new connection verifies the certificate of the host that the Sentinel reports.
TEST(sentinel_names, hazard_26_a_silent_connection_with_tls_is_replaced) {
  tls_server server({"--port", "free"});
  tcp_proxy network("127.0.0.1:" + std::to_string(server.port()));
  fake_sentinel only(network.port(), 1);
  const auto client =
      open_client("rediss+sentinel://" + only.place() + "/mymaster?sentinel_tls=off" +
                  "&command_timeout=10s&tls_ca_file=" + server.file("ca.pem"));
  const auto lock = open_lock(client, "silent");
  const auto error = new_error();
  network.control("forget");
  EXPECT_EQ(status_name(mortise_lock_try(lock.get(), error.get())), status_name(MORTISE_OK))
      << mortise_error_message(error.get());
}

}  // namespace
}  // namespace mortise::testing::sentinel_names_test
