// No output of the library contains a part of a password, a key or a URL's user: whatever fails,
// and whatever a server repeats of a login. The test searches all output for them.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "support/certificates.hpp"
#include "support/fake_server.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"
#include "support/tls_fixture.hpp"

namespace mortise::testing::secret_words_test {
namespace {

// Any of these, in whatever form, is a leak.
const std::string user_mark = "Frodo77user";
const std::string password_mark = "Gollum77word";
const std::string next_mark = "Sauron77next";
const std::string key_mark = "Shelob77keys";
const std::string user = user_mark + "/x";
const std::string password = "p:" + password_mark + "@%";
const std::string login = user_mark + "%2Fx:p%3A" + password_mark + "%40%25";

std::string base64(std::string_view text) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string coded;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    bits = bits << 8U | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) coded += digits[bits >> (count - 6) & 63U];
  }
  return coded;
}

// As it is, and as base64 of a text that it is in the midst of. Its letters are the same
// percent-encoded.
std::vector<std::string> forms_of(const std::string& mark) {
  std::vector<std::string> forms{mark};
  for (std::size_t before = 0; before < 3; ++before) {
    const auto whole = base64(std::string(before, ' ') + mark);
    forms.push_back(whole.substr((before * 8 + 5) / 6));
  }
  return forms;
}

void expect_no_secret(const std::string& message, std::string_view where) {
  for (const auto& mark : {user_mark, password_mark, next_mark, key_mark}) {
    for (const auto& form : forms_of(mark)) {
      EXPECT_EQ(message.find(form), std::string::npos)
          << where << " tells " << mark << ": " << message;
    }
  }
}

// ---- what comes out ---------------------------------------------------------------------------

std::string words_of(const error_handle& error) {
  std::size_t length = 0;
  const auto* const name = mortise_error_lock_name(error.get(), &length);
  return std::string(mortise_error_message(error.get())) + "\n" +
         mortise_error_server_text(error.get()) + "\n" + std::string(name, length) + "\n";
}

std::string words_of(const mortise_health* found) {
  std::string words = mortise_health_json(found);
  for (std::int64_t i = 0; i < mortise_health_count(found); ++i) {
    for (const auto getter : {mortise_health_name, mortise_health_server, mortise_health_value,
                              mortise_health_consequence, mortise_health_remedy}) {
      words += std::string("\n") + getter(found, i);
    }
  }
  return words + "\n";
}

std::string words_of_next(const queue_handle& queue) {
  const event_handle event(mortise_event_new());
  const auto error = new_error();
  if (mortise_queue_next(queue.get(), patience_ms, event.get(), error.get()) != MORTISE_OK) {
    ADD_FAILURE() << "no event: " << words_of(error);
  }
  return std::string(mortise_event_message(event.get())) + "\n" +
         mortise_event_server_text(event.get()) + "\n";
}

std::string words_of_query(mortise_lock* lock) {
  const info_handle info(mortise_info_new());
  const auto error = new_error();
  mortise_lock_query(lock, info.get(), error.get());
  std::string words = words_of(error);
  for (std::int64_t i = 0; i < mortise_info_entry_count(info.get()); ++i) {
    for (const auto getter :
         {mortise_info_entry_owner, mortise_info_entry_host, mortise_info_entry_label}) {
      words += std::string(getter(info.get(), i)) + "\n";
    }
  }
  return words;
}

// The texts of each call.
std::string call_all(const client_handle& client) {
  std::string words;
  const auto error = new_error();
  const auto note = [&] { words += words_of(error); };
  const auto lock = open_lock(client, "quest");
  const auto queue = open_queue(client);
  mortise_client_ping(client.get(), error.get()), note();
  if (mortise_lock_try(lock.get(), error.get()) != MORTISE_OK) note();
  mortise_lock_extend(lock.get(), 1000, error.get()), note();
  mortise_lock_unlock(lock.get(), error.get()), note();
  if (mortise_lock_acquire(lock.get(), 20, error.get()) != MORTISE_OK) note();
  words += words_of_query(lock.get());
  if (mortise_lock_acquire_async(lock.get(), queue.get(), 1, 20, error.get()) == MORTISE_OK) {
    words += words_of_next(queue);
  }
  for (const auto ask : {mortise_client_check_health, mortise_client_last_health}) {
    auto* const found = ask(client.get(), error.get());
    note();
    words += words_of(found);
    mortise_health_free(found);
  }
  return words;
}

std::string give_others(const client_handle& client) {
  const auto given = "n:" + next_mark;
  const auto error = new_error();
  mortise_client_set_credentials(client.get(), user.data(), user.size(), given.data(), given.size(),
                                 error.get());
  auto words = words_of(error);
  mortise_client_ping(client.get(), error.get());
  return words + words_of(error);
}

// The texts about a client of this URL, and of its calls.
std::string use(const std::string& url) {
  const auto error = new_error();
  const client_handle client(mortise_client_new(url.data(), url.size(), nullptr, error.get()));
  auto words = words_of(error);
  if (client) words += call_all(client);
  if (client) words += give_others(client);
  return words;
}

class secret_words : public ::testing::Test {
 protected:
  static std::string url(const std::string& place, const std::string& behind) {
    return "unix://" + login + "@" + place + behind;
  }
  std::string write(const std::string& name, const std::string& text) {
    const auto path = server_.socket_path() + "." + name;
    std::ofstream(path) << text;
    ::chmod(path.c_str(), S_IRUSR | S_IWUSR);
    return path;
  }
  void let_in() {
    server_.command({"ACL", "SETUSER", user, "on", ">" + password, "~*", "&*", "+@all"});
  }

  test_server server_;
};

// ---- servers that repeat ----------------------------------------------------------------------

// A healthy one on which a lock is always free.
void answer_freely(fake_peer& peer, const fake_command& command) {
  if (command.is("MULTI")) return peer.send("+OK\r\n");
  if (command.is("INCR") || command.is("LLEN")) return peer.send("+QUEUED\r\n");
  if (command.is("SET") && command.words[1].starts_with("{")) return peer.send("+QUEUED\r\n");
  if (command.is("EXEC")) return peer.send("*2\r\n+OK\r\n:2000000000000000\r\n");
  if (command.is("EVAL") || command.is("EVALSHA")) return peer.send(":1\r\n");
  fake_server::answer_healthy(peer, command);
}

// Answers one command with an error that contains the last login.
class repeating_server {
 public:
  repeating_server(const std::string& victim, const std::string& error)
      : server_([this, victim, error](fake_peer& peer, const fake_command& command) {
          if (command.is("HELLO") || command.is("AUTH")) heard_ = command.text();
          // Where AUTH is the victim, the login is by AUTH.
          if (victim == "AUTH" && command.is("HELLO")) {
            return peer.send("-ERR unknown command 'HELLO', with args beginning with: " + heard_ +
                             "\r\n");
          }
          const auto word = victim == "live AUTH" ? "AUTH" : victim;
          if (!command.is(word)) return answer_freely(peer, command);
          auto text = error;
          text.replace(text.find('$'), 1, heard_);
          has_repeated_ = true;
          peer.send("-" + text + "\r\n");
        }) {}
  [[nodiscard]] const std::string& place() const { return server_.socket_path(); }
  [[nodiscard]] bool has_repeated() const { return has_repeated_; }

 private:
  std::string heard_;
  std::atomic<bool> has_repeated_{false};
  fake_server server_;  // its thread uses the rest
};

// A server that is to be waited for is waited for as briefly as it takes to get its word.
void expect_silence_about(const repeating_server& repeats, const std::string& url,
                          const std::string& place) {
  for (const auto* timeout : {"40ms", "400ms", "4s"}) {
    expect_no_secret(use(url + "&command_timeout=" + timeout), place);
    if (repeats.has_repeated()) return;
  }
  ADD_FAILURE() << "nothing was repeated: " << place;
}

const std::vector<std::string> repeating_errors = {
    "ERR unknown command 'X', with args beginning with: $",
    "ERR no idea what $ means",
    "ERR invalid password $",
    "WRONGPASS invalid login '$'",
    "NOAUTH $ has ended",
    "NOPERM User $ has no permissions to run the 'get' command",
    "NOPERM this user has no permissions to run the '$' command",
    "NOPERM $",
    "READONLY for $",
    "LOADING for $",
    "MISCONF for $",
    "EXECABORT Transaction discarded because of: OOM $",
};

TEST_F(secret_words, a_login_that_a_server_repeats_is_not_printed) {
  for (const auto* victim : {"HELLO", "AUTH", "SELECT", "SUBSCRIBE", "EVAL", "SET", "PING", "EXEC",
                             "EVALSHA", "INFO", "live AUTH"}) {
    for (const auto& error : repeating_errors) {
      const auto place = std::string(victim) + ", " + error;
      const repeating_server repeats(victim, error);
      expect_silence_about(repeats, url(repeats.place(), "?db=1"), place);
    }
  }
}

TEST_F(secret_words, a_files_password_that_a_server_repeats_is_not_printed) {
  const auto file = write("password", password + "\n");
  for (const auto* victim : {"HELLO", "AUTH", "SELECT", "SUBSCRIBE", "EVAL"}) {
    for (const auto& error : repeating_errors) {
      const repeating_server repeats(victim, error);
      expect_silence_about(
          repeats,
          "unix://" + user_mark + "%2Fx@" + repeats.place() + "?db=1&password_file=" + file,
          std::string(victim) + ", " + error);
    }
  }
}

TEST_F(secret_words, a_server_that_logs_a_holder_out_is_not_quoted) {
  for (const std::string code : {"NOAUTH", "WRONGPASS", "NOPERM"}) {
    std::atomic<bool> is_over{false};
    std::string command_text;
    fake_server server([&](fake_peer& peer, const fake_command& command) {
      if (command.is("HELLO") || command.is("AUTH")) command_text = command.text();
      if (is_over) return peer.send("-" + code + " " + command_text + "\r\n");
      answer_freely(peer, command);
    });
    const auto client = open_client(url(server.socket_path(), "?command_timeout=1s&lease=3s"));
    const auto lock = open_lock(client, "quest");
    const auto queue = open_queue(client);
    ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
    ASSERT_EQ(MORTISE_OK, mortise_lock_watch(lock.get(), queue.get(), 1, nullptr));
    is_over = true;
    const auto words = words_of_next(queue);
    ASSERT_TRUE(eventually([&] { return mortise_lock_is_held(lock.get()) == 0; }));
    const auto failure = new_error();
    mortise_lock_unlock(lock.get(), failure.get());
    expect_no_secret(words + words_of(failure) + call_all(client), code);
  }
}

// ---- real servers -----------------------------------------------------------------------------

TEST_F(secret_words, a_refusal_is_reported_without_the_login) {
  EXPECT_NE(use(url(server_.socket_path(), "")).find("WRONGPASS"), std::string::npos);
  expect_no_secret(use(url(server_.socket_path(), "")), "an unknown user");
  server_.command({"ACL", "SETUSER", user, "on", ">other"});
  expect_no_secret(use(url(server_.socket_path(), "")), "a wrong password");
  server_.command({"ACL", "SETUSER", user, "resetpass", ">" + password});
  expect_no_secret(use(url(server_.socket_path(), "?db=1")), "no rights");
  for (const auto* right : {"+ping", "+eval +set +subscribe +select &*", "+@all", "+@all ~*"}) {
    std::istringstream rights(right);
    std::vector<std::string> rule{"ACL", "SETUSER", user};
    for (std::string one; rights >> one;) rule.push_back(one);
    server_.command(rule);
    expect_no_secret(use(url(server_.socket_path(), "?command_timeout=300ms")), right);
  }
  server_.command({"ACL", "SETUSER", user, "off"});
  expect_no_secret(use(url(server_.socket_path(), "")), "a user that is off");
}

TEST_F(secret_words, unusable_urls_are_reported_without_the_login) {
  const auto at = login + "@";
  const auto short_file = write("file", "x");
  for (const auto& bad : {
           // The fault is before the login, in it, and behind it.
           "redis:/" + at + "host",
           "redi://" + at + "host",
           at + "host",
           "//" + at + "host",
           "redis+sentinel://" + at + "host",
           "local:" + at,
           "redis://x y" + at + "host",
           "redis://" + login,
           "redis://%zz" + at + "host",
           "redis://" + login + "%4@host",
           "redis://" + login + "/@host",
           "redis://" + login + "?x=@host",
           "redis://" + login + "#@host",
           "redis://" + login + ":host",
           "redis://" + at,
           "redis://" + at + "ho_st:port",
           "redis://" + at + "[::1",
           "redis://" + at + "host:0",
           "redis://" + at + "host:99999",
           "redis://" + at + "host/zero",
           "redis://" + at + "host?lease=soon",
           "redis://" + at + "host?lease",
           "redis://" + at + "host?nothing=known",
           "redis://" + at + "host?db=1",
           "redis://" + at + "host?password_file=" + short_file,
           "redis://" + at + "host?password_file=none",
           "redis://" + at + "host?tls_verify=off",
           "rediss://" + at + "host?tls_ca_file=/none",
           "rediss://" + at + "host?tls_key_file=" + short_file,
           "unix://" + login,
           "unix://" + at + "socket",
           "unix://" + at + "/none/socket?command_timeout=50ms",
           "redis://" + at + "127.0.0.1:1?command_timeout=50ms",
           "rediss://" + at + "127.0.0.1:1?command_timeout=50ms",
           "redis://" + at + "no.such.name.invalid?command_timeout=50ms",
       }) {
    const auto words = use(bad);
    EXPECT_GT(words.size(), 20U) << bad;
    expect_no_secret(words, bad);
    ASSERT_EQ(0, ::setenv("MORTISE_URL", bad.c_str(), 1));
    const auto error = new_error();
    EXPECT_FALSE(client_handle(mortise_client_new(nullptr, 0, nullptr, error.get())));
    expect_no_secret(words_of(error), "MORTISE_URL");
    ::unsetenv("MORTISE_URL");
  }
}

TEST_F(secret_words, unusable_files_are_reported_without_their_content) {
  const auto place = "unix://" + user_mark + "@" + server_.socket_path() + "?password_file=";
  const auto lines = write("lines", password + std::string(20000, 'x'));
  expect_no_secret(use(place + lines), "a long file");
  expect_no_secret(use(place + write("wrong", password + "\n")), "a wrong password");
  const auto given = new_error();
  const options_handle options(mortise_options_new());
  for (const std::string key : {"password_file", "tls_key_file", "password", "url"}) {
    mortise_options_set(options.get(), key.data(), key.size(), password.data(), password.size(),
                        given.get());
    // A secret that was given as a path is printed, as any value is.
    if (key == "password" || key == "url") expect_no_secret(words_of(given), key);
  }
}

TEST_F(secret_words, tls_that_fails_is_reported_without_login_and_key) {
  tls_server server({"--tls-auth-clients", "yes"});
  make_certificates(server.folder(), "locked --password " + password_mark);
  const auto place = "rediss://" + login + "@" + server.trusting_url().substr(9);
  const auto with_key = [&](const std::string& key) {
    return place + "&tls_certificate_file=" + server.file("client.pem") + "&tls_key_file=" + key +
           "&command_timeout=300ms";
  };
  expect_no_secret(use(place + "&command_timeout=300ms"), "no certificate");
  expect_no_secret(use(place + "&tls_name=" + "elsewhere.example"), "another name");
  for (const auto& text :
       {key_mark, "-----BEGIN PRIVATE KEY-----\n" + key_mark + "\n-----END PRIVATE KEY-----\n",
        "-----BEGIN " + key_mark + "-----\n"}) {
    expect_no_secret(use(with_key(write("key", text))), "no key");
  }
  expect_no_secret(use(with_key(server.file("locked.key"))), "an encrypted key");
  expect_no_secret(use(with_key(server.file("server.key"))), "another's key");
  const auto plain = "redis://" + login + "@127.0.0.1:" + std::to_string(server.port());
  expect_no_secret(use(plain + "?command_timeout=300ms"), "TLS without rediss");
}

// All that a server's other users can see of a client, but for what the server itself has noted as
// the user's name.
TEST_F(secret_words, nothing_of_a_login_is_left_at_the_server) {
  let_in();
  server_.command({"CONFIG", "SET", "slowlog-log-slower-than", "0"});
  server_.command({"CONFIG", "SET", "slowlog-max-len", "10000"});
  const auto watcher = server_.connect();
  EXPECT_EQ(watcher->command({"MONITOR"}), "OK");
  const auto client =
      open_client(url(server_.socket_path(), "?lease=1h&label=me&health_check=warn"));
  const auto lock = open_lock(client, "quest");
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  std::string seen = words_of_query(lock.get()) + call_all(client);
  std::istringstream clients(server_.command({"CLIENT", "LIST"}));
  for (std::string field; clients >> field;) {
    if (!field.starts_with("user=")) seen += field + "\n";
  }
  std::istringstream keys(server_.command({"KEYS", "*"}));
  int count = 0;
  for (std::string key; std::getline(keys, key); ++count) {
    seen += key + "\n" + server_.command({"DUMP", key}) + "\n";
  }
  EXPECT_GE(count, 3);
  seen += server_.command({"SLOWLOG", "GET", "-1"});
  server_.command({"ECHO", "the last of it"});
  for (std::string line; line.find("the last of it") == std::string::npos; seen += line) {
    line = watcher->read_reply();
    ASSERT_NE(line, "(closed)");
  }
  EXPECT_NE(seen.find("EVAL"), std::string::npos);
  expect_no_secret(seen, "the server");
}

}  // namespace
}  // namespace mortise::testing::secret_words_test
