// Hazards of replies: each error at each step, and replies that are hostile or corrupt.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "protocol/scripts/scripts.hpp"
#include "support/fake_server.hpp"
#include "support/handles.hpp"
#include "support/proxy.hpp"
#include "support/server.hpp"

namespace mortise::testing::reply_test {
namespace {

// What is certain about each error of a command. It was not executed, the same call may succeed
// later, or the error passes by itself, so an acquire asks again until its timeout.
enum class meaning { unknown, refused, retryable, passing };

struct error_case {
  const char* text;
  meaning means;
};

const std::vector<error_case> errors = {
    {"BUSY Redis is busy running a script.", meaning::passing},
    {"TRYAGAIN Multiple keys request during rehashing of slot", meaning::passing},
    {"OOM command not allowed when used memory > 'maxmemory'.", meaning::retryable},
    {"MISCONF Redis is configured to save RDB snapshots, but it's currently unable",
     meaning::retryable},
    {"NOREPLICAS Not enough good replicas to write.", meaning::retryable},
    {"EXECABORT Transaction discarded because of previous errors.", meaning::retryable},
    {"NOPERM this user has no permissions to run the command", meaning::refused},
    {"WRONGPASS invalid username-password pair or user is disabled.", meaning::refused},
    {"WRONGTYPE Operation against a key holding the wrong kind of value", meaning::refused},
    {"FOREIGN {mortise:error} holds a list that the protocol queued did not write",
     meaning::refused},
    {"LIMIT 4 permits are more than there are", meaning::refused},
    {"MOVED 3999 127.0.0.1:6381", meaning::refused},
    {"CROSSSLOT Keys in request don't hash to the same slot", meaning::refused},
    {"UNBLOCKED force unblock from blocking operation", meaning::unknown},
    {"ERR something that nobody has heard of", meaning::unknown},
    {"", meaning::unknown},
};

bool runs(const fake_command& command, const redis::script& script) {
  return command.words.size() > 1 && (command.is("EVALSHA") || command.is("EVAL")) &&
         (command.words[1] == script.sha1 || command.words[1] == script.text);
}

proxy::rule answer_script(const redis::script& script, const std::string& error) {
  return [&script, error](const fake_command& command) {
    return runs(command, script) ? fault::answer("-" + error + "\r\n") : fault::none();
  };
}

// The quick way is a transaction: its first command is refused, and so it is as a whole.
proxy::rule answer_transaction(const std::string& error) {
  return [error](const fake_command& command) {
    if (command.is("MULTI")) return fault::answer("+OK\r\n");
    if (command.is("SET") && command.words[1].starts_with("{")) {
      return fault::answer("-" + error + "\r\n");
    }
    if (command.is("INCR") || command.is("LLEN")) return fault::answer("+QUEUED\r\n");
    if (command.is("EXEC")) {
      return fault::answer("-EXECABORT Transaction discarded because of previous errors.\r\n");
    }
    return fault::none();
  };
}

// As the handshake of a server that has it not, so that each release is a script.
fault without_compare_and_delete(const fake_command& command) {
  const bool is_it = command.is("DELIFEQ") || command.is("DELEX");
  return is_it ? fault::answer("-ERR unknown command\r\n") : fault::none();
}

class hazard_28 : public ::testing::Test {
 protected:
  hazard_28()
      : between_(server_.socket_path(), without_compare_and_delete),
        client_(open_client(between_.url() + "?lease=60s&command_timeout=2s")),
        direct_(open_client(server_.url())),
        holder_(open_lock(direct_, "error")),
        lock_(open_lock(client_, "error")),
        error_(new_error()) {}

  // The call returned what the error means.
  void check(const error_case& expected, mortise_status got, bool changes_something = true) {
    const bool is_unknown = expected.means == meaning::unknown;
    const bool is_retryable =
        expected.means == meaning::retryable || expected.means == meaning::passing;
    EXPECT_EQ(is_unknown ? MORTISE_UNKNOWN : MORTISE_REFUSED, got)
        << expected.text << ": " << mortise_error_message(error_.get());
    EXPECT_EQ(expected.text, std::string(mortise_error_server_text(error_.get())));
    EXPECT_EQ(is_unknown && changes_something ? 1 : 0, mortise_error_is_ambiguous(error_.get()));
    EXPECT_EQ(is_retryable ? 1 : 0, mortise_error_is_retryable(error_.get()));
    EXPECT_STRNE("", mortise_error_message(error_.get()));
  }
  // The lock works again, for everybody.
  void check_healthy() {
    between_.set_rule({});
    for (auto* const lock : {lock_.get(), holder_.get()}) {
      ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, nullptr));
      ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(lock, nullptr));
    }
  }

  test_server server_;
  proxy between_;
  client_handle client_;
  client_handle direct_;
  lock_handle holder_;
  lock_handle lock_;
  error_handle error_;
};

TEST_F(hazard_28, at_the_try) {
  for (const auto& expected : errors) {
    SCOPED_TRACE(expected.text);
    between_.set_rule(answer_transaction(expected.text));
    check(expected, mortise_lock_try(lock_.get(), error_.get()));
    EXPECT_EQ(0, mortise_lock_is_held(lock_.get()));
    check_healthy();
  }
}

TEST_F(hazard_28, at_the_wait) {
  for (const auto& expected : errors) {
    SCOPED_TRACE(expected.text);
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(holder_.get(), patience_ms, nullptr));
    between_.set_rule(answer_script(scripts::queued_acquire, expected.text));
    // Only what passes by itself is asked again, until the timeout.
    const auto begin = boot_now();
    const auto timeout_ms = expected.means == meaning::passing ? 500 : patience_ms;
    check(expected, mortise_lock_acquire(lock_.get(), timeout_ms, error_.get()));
    EXPECT_LT(ms_since(begin), 10 * second_ms);
    EXPECT_EQ(0, mortise_lock_is_held(lock_.get()));
    EXPECT_EQ(1, mortise_lock_is_held(holder_.get()));
    ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(holder_.get(), nullptr));
    check_healthy();
  }
}

TEST_F(hazard_28, at_the_extension) {
  for (const auto& expected : errors) {
    SCOPED_TRACE(expected.text);
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock_.get(), patience_ms, nullptr));
    between_.set_rule(answer_script(scripts::queued_renew, expected.text));
    const auto begin = boot_now();
    const auto before = mortise_lock_valid_ms(lock_.get());
    check(expected, mortise_lock_extend(lock_.get(), 120'000, error_.get()));
    // The old deadline stands: no later, and no earlier either.
    EXPECT_LE(mortise_lock_valid_ms(lock_.get()), before);
    EXPECT_GE(mortise_lock_valid_ms(lock_.get()) + ms_since(begin) + 2, before);
    EXPECT_EQ(1, mortise_lock_is_held(lock_.get()));
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock_.get(), nullptr));
    check_healthy();
  }
}

TEST_F(hazard_28, at_the_release) {
  for (const auto& expected : errors) {
    SCOPED_TRACE(expected.text);
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock_.get(), patience_ms, nullptr));
    between_.set_rule(answer_script(scripts::queued_release_alone, expected.text));
    check(expected, mortise_lock_unlock(lock_.get(), error_.get()));
    EXPECT_EQ(0, mortise_lock_is_held(lock_.get()));
    EXPECT_EQ(MORTISE_NOT_OWNER, mortise_lock_unlock(lock_.get(), nullptr));
    server_.command({"DEL", lock_key("error")});  // otherwise its lease would have to end it
    check_healthy();
  }
}

// The place stays at the server. A grant to it lapses, and does not stop the others.
TEST_F(hazard_28, at_the_cancel) {
  const options_handle options(mortise_options_new());
  mortise_options_set_lease_ms(options.get(), 100, nullptr);
  const auto waiter = open_lock(client_, "error", options.get());
  const auto queue = open_queue(client_);
  for (const auto& expected : errors) {
    SCOPED_TRACE(expected.text);
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(holder_.get(), patience_ms, nullptr));
    ASSERT_EQ(MORTISE_OK,
              mortise_lock_acquire_async(waiter.get(), queue.get(), 1, patience_ms, nullptr));
    ASSERT_TRUE(eventually([&] { return server_.command({"LLEN", queue_key("error")}) == "1"; }));
    between_.set_rule(answer_script(scripts::queued_cancel, expected.text));
    EXPECT_EQ(MORTISE_OK, mortise_lock_cancel(waiter.get(), nullptr));
    EXPECT_EQ(MORTISE_CANCELLED, next_event(queue).status);
    ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(holder_.get(), nullptr));
    check_healthy();
  }
}

TEST_F(hazard_28, at_the_query) {
  for (const auto& expected : errors) {
    SCOPED_TRACE(expected.text);
    const info_handle info(mortise_info_new());
    between_.set_rule(answer_script(scripts::queued_query, expected.text));
    check(expected, mortise_lock_query(lock_.get(), info.get(), error_.get()), false);
    check_healthy();
  }
}

// ---- replies that are hostile or corrupt ----------------------------------------------------

// Greets as a healthy server does, which the library's handshake asks a little more of.
void greet(fake_peer& peer, const fake_command& command) {
  if (command.is("EVAL")) return peer.send(":1790000000000000\r\n");
  fake_server::answer_healthy(peer, command);
}

const std::vector<std::string> hostile = {
    "$999999999999\r\n",
    "$-2\r\n",
    "$5\r\nabcdefgh\r\n",
    "*2147483647\r\n",
    "*-3\r\n",
    "*1000000\r\n:1\r\n",
    ":99999999999999999999999\r\n",
    ":\r\n",
    "?what\r\n",
    "%1\r\n+a\r\n",
    "%4611686018427387904\r\n",
    "|1\r\n+attribute\r\n:1\r\n:1\r\n",
    ">2\r\n+message\r\n",
    ">3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$900000000\r\n",
    "$4\r\n>1\r\n+x\r\n",
    "=3\r\nabc\r\n",
    "(99999999999999999999999999999999\r\n",
    ",nan\r\n",
    "#x\r\n",
    "_\r\n",
    "$?\r\n;4\r\nabcd\r\n;0\r\n",
    "*?\r\n:1\r\n.\r\n",
    "+OK\r\n+OK\r\n+OK\r\n+OK\r\n+OK\r\n",
    "*5\r\n:1\r\n:-1\r\n:-1\r\n:-1\r\n:-1\r\n",
    "*5\r\n$1\r\n1\r\n_\r\n*0\r\n%0\r\n#t\r\n",
    "*0\r\n",
    "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
    std::string("\0\0\0\0\r\n", 6),
    std::string(100'000, '*'),
    "-" + std::string(100'000, 'E') + "\r\n",
    "\r\n",
};

// Every call ends in time, and none of them believes that it holds.
TEST(safety, hazard_31_hostile_replies_are_refused) {
  fake_server server(greet);
  const info_handle info(mortise_info_new());
  for (const auto& reply : hostile) {
    for (const bool waits : {false, true}) {
      // A new one, because what an earlier one gives back would get the reply instead.
      const auto client = open_client_patiently(server.url() + "?command_timeout=150ms");
      const auto lock = open_lock(client, "hostile");
      server.set_answer([&](fake_peer& peer, const fake_command& command) {
        if (command.is("EXEC") || command.is("EVALSHA") || command.is("MULTI")) {
          return peer.send(reply);
        }
        greet(peer, command);
      });
      const auto begin = boot_now();
      EXPECT_EQ(MORTISE_UNKNOWN, waits ? mortise_lock_acquire(lock.get(), 50, nullptr)
                                       : mortise_lock_try(lock.get(), nullptr))
          << reply.substr(0, 60);
      EXPECT_EQ(0, mortise_lock_is_held(lock.get()));
      (void)mortise_lock_query(lock.get(), info.get(), nullptr);
      EXPECT_LT(ms_since(begin), 10 * second_ms);
      server.set_answer(greet);
      ASSERT_TRUE(answers(client)) << reply;
    }
  }
}

TEST(safety, hazard_31_hostile_messages_are_only_hints) {
  fake_server server(greet);
  const auto client = open_client(server.url());
  const auto lock = open_lock(client, "inbox");
  ASSERT_EQ(MORTISE_OK, mortise_client_ping(client.get(), nullptr));
  std::string channel;
  for (const auto& command : server.received()) {
    if (command.is("SUBSCRIBE")) channel = command.words[1];
  }
  ASSERT_NE("", channel);
  const auto push = [&](const std::string& text) {
    return ">3\r\n$7\r\nmessage\r\n$" + std::to_string(channel.size()) + "\r\n" + channel +
           "\r\n$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
  };
  for (const auto& text :
       {"", "G", "G ", "G 1 2 3", "G x y z m1:", "G 99999999999999999999 1 1 m1:a:1:x:3",
        "N -1 m1:a:1:x:3", "W m1:", "W m1:a:18446744073709551616.1:x:3", "Q what", "\r\n\r\n"}) {
    server.send_to_all(push(text));
  }
  server.send_to_all(">3\r\n:1\r\n:2\r\n:3\r\n>0\r\n>1\r\n_\r\n");
  EXPECT_EQ(MORTISE_OK, mortise_client_ping(client.get(), nullptr));
  EXPECT_EQ(0, mortise_lock_is_held(lock.get()));
}

}  // namespace
}  // namespace mortise::testing::reply_test
