// The tables of the protocols: the commands of each step, the meaning of each reply, and their
// texts and numbers.
#include <gtest/gtest.h>

#include "lock/lease.hpp"
#include "protocol/foreign/interop.hpp"
#include "protocol/listing/query.hpp"
#include "protocol/native/inbox.hpp"
#include "protocol/native/owner_token.hpp"
#include "protocol/refusal.hpp"
#include "protocol/scripts/scripts.hpp"
#include "protocol/table.hpp"
#include "protocol/wire.hpp"

namespace mortise::testing::protocol_test {
namespace {

using lock::answer;
using lock::step;

lock::step_result read(step what, std::string_view reply) {
  redis::parser parser;
  EXPECT_EQ(parser.parse(reply), redis::parse_result::complete);
  return protocol::read_step(protocol::queued(), what, parser.reply(),
                             protocol::queued().keys("a"));
}

TEST(queued_protocol, keys_of_one_name_share_a_tag_and_never_those_of_another) {
  const auto& rules = protocol::queued();
  EXPECT_EQ(rules.keys("a").at(0), "{mortise:a}");
  EXPECT_EQ(rules.keys("a").at(2), "{mortise:a}:q");
  EXPECT_NE(rules.keys("a}:q").at(0), rules.keys("a").at(2));
  EXPECT_EQ(rules.keys(std::string("\0}", 2)).at(0), std::string("{mortise:\0}}", 12));
}

// Overwrites what an earlier call has left on the stack.
[[gnu::noinline]] void overwrite_stack() {
  volatile char bytes[8192];
  for (auto& byte : bytes) byte = 'x';
}

TEST(queued_protocol, the_command_of_an_export_refers_to_nothing_of_the_call_that_made_it) {
  const auto& rules = protocol::queued();
  const auto keys = rules.keys("a");
  lock::step_request request;
  request.token = "id";
  request.adopted = "exporter";
  request.ttl_ms = 30'302;
  bool was_owner = false;
  const auto command = protocol::export_hold(rules, keys, request, was_owner);
  overwrite_stack();
  std::string bytes;
  command.write(bytes, false);
  std::string expected;
  redis::command_writer(expected).command({"EVALSHA", scripts::queued_adopt.sha1, "3", keys.at(0),
                                           keys.at(1), keys.at(2), "id", "30302", "set",
                                           "exporter"});
  EXPECT_EQ(bytes, expected);
}

TEST(queued_protocol, takes_in_one_transaction_with_the_fencing_token) {
  lock::step_request request;
  request.what = step::try_take;
  request.token = "t";
  request.ttl_ms = 30'302;
  std::string bytes;
  const auto& rules = protocol::queued();
  EXPECT_EQ(protocol::write_step(bytes, rules, request, rules.keys("a")), 4);
  EXPECT_TRUE(bytes.starts_with("*1\r\n$5\r\nMULTI\r\n*6\r\n$3\r\nSET\r\n"));
  EXPECT_TRUE(bytes.ends_with("*1\r\n$4\r\nEXEC\r\n"));
}

TEST(queued_protocol, reads_the_transaction) {
  const auto taken = read(step::try_take, "*2\r\n+OK\r\n:1800000000000001\r\n");
  EXPECT_EQ(taken.what, answer::granted);
  EXPECT_EQ(taken.last_token, 1'800'000'000'000'001);
  EXPECT_FALSE(taken.others_wait);
  EXPECT_EQ(read(step::try_take, "*2\r\n$-1\r\n:1800000000000001\r\n").what, answer::not_free);
  // The counter has another type: owned, and no token yet.
  EXPECT_EQ(read(step::try_take, "*2\r\n+OK\r\n-WRONGTYPE x\r\n").last_token, 0);
  EXPECT_EQ(read(step::try_take, "-EXECABORT Transaction discarded\r\n").what, answer::refused);
}

TEST(queued_protocol, hazard_31_a_reply_of_another_shape_is_unknown_and_never_a_grant) {
  for (const auto what :
       {step::try_take, step::acquire, step::reacquire, step::retake, step::adopt, step::restore,
        step::renew, step::raise, step::release_alone, step::release, step::cancel}) {
    for (const auto* reply : {"+OK\r\n", "$-1\r\n", "*0\r\n", "*1\r\n*0\r\n", "*1\r\n:1\r\n",
                              "*3\r\n:1\r\n:1800000000000001\r\n:0\r\n", "*2\r\n:1\r\n:1\r\n",
                              "$1\r\n1\r\n", "%0\r\n"}) {
      const auto parsed = read(what, reply);
      EXPECT_NE(parsed.what, answer::granted) << static_cast<int>(what) << reply;
      EXPECT_NE(parsed.what, answer::released) << static_cast<int>(what) << reply;
      if (parsed.what == answer::unknown) {
        EXPECT_EQ(parsed.details.code, status::unknown) << reply;
      }
    }
  }
}

TEST(queued_protocol, hazard_30_a_token_beyond_2_to_53_is_no_grant) {
  EXPECT_EQ(read(step::try_take, "*2\r\n+OK\r\n:9007199254740991\r\n").what, answer::granted);
  EXPECT_EQ(read(step::try_take, "*2\r\n+OK\r\n:9007199254740992\r\n").what, answer::unknown);
  EXPECT_EQ(read(step::acquire, "*5\r\n:1\r\n:9223372036854775807\r\n:5\r\n:1\r\n:0\r\n").what,
            answer::unknown);
  EXPECT_EQ(read(step::renew, "*5\r\n:1\r\n:9007199254740992\r\n:5\r\n:1\r\n:0\r\n").what,
            answer::unknown);
  EXPECT_FALSE(protocol::read_message("G 9007199254740992 1 0 m1:c:7.2::1"));
  const auto ended = read(step::raise, "*2\r\n:1\r\n:9007199254740992\r\n");
  EXPECT_EQ(ended.what, answer::unknown);
  EXPECT_EQ(ended.details.code, status::refused);
  EXPECT_NE(ended.details.message.find("the key mortise:fence was raised to 9007199254740992"),
            std::string::npos)
      << ended.details.message;
}

TEST(queued_protocol, hazard_31_numbers_that_no_script_says_are_no_answer) {
  for (const auto* reply : {"*5\r\n:2\r\n:1800000000000017\r\n:5\r\n:1\r\n:0\r\n",
                            "*5\r\n_\r\n:0\r\n:5\r\n:1\r\n:0\r\n",
                            "*5\r\n:0\r\n:0\r\n:-9223372036854775808\r\n:1\r\n:0\r\n"}) {
    EXPECT_EQ(read(step::acquire, reply).what, answer::unknown) << reply;
  }
  for (const auto* reply : {"*1\r\n:1\r\n", "*1\r\n_\r\n", "*2\r\n:0\r\n:0\r\n",
                            "*5\r\n:2\r\n:0\r\n:5\r\n:1\r\n:0\r\n"}) {
    EXPECT_EQ(read(step::renew, reply).what, answer::unknown) << reply;
  }
  for (const auto what : {step::release_alone, step::release, step::cancel}) {
    EXPECT_EQ(read(what, ":4\r\n").what, answer::unknown);
    EXPECT_EQ(read(what, ":-1\r\n").what, answer::unknown);
  }
  EXPECT_FALSE(protocol::read_message("G 17 1795227324888577 0 m1:c:7.2::1"));
  EXPECT_FALSE(protocol::read_message("G 1800000000000017 -5 0 m1:c:7.2::1"));
}

TEST(queued_protocol, reads_the_other_steps) {
  const auto owned = read(step::acquire, "*5\r\n:1\r\n:1800000000000017\r\n:5\r\n:33002\r\n:1\r\n");
  EXPECT_EQ(owned.what, answer::granted);
  EXPECT_EQ(owned.token_count, 1);
  EXPECT_TRUE(owned.others_wait);
  const auto waiting = read(step::acquire, "*5\r\n:0\r\n:0\r\n:5\r\n:700\r\n:3\r\n");
  EXPECT_EQ(waiting.what, answer::queued);
  EXPECT_EQ(waiting.place, 3);
  EXPECT_EQ(read(step::retake, "*5\r\n:0\r\n:0\r\n:5\r\n:700\r\n:-1\r\n").what, answer::not_free);
  EXPECT_EQ(read(step::renew, "*5\r\n:1\r\n:0\r\n:5\r\n:1\r\n:0\r\n").what, answer::renewed);
  EXPECT_EQ(read(step::renew, "*1\r\n:0\r\n").what, answer::not_owner);
  EXPECT_EQ(read(step::release, ":0\r\n").what, answer::not_owner);
  EXPECT_EQ(read(step::release, ":1\r\n").what, answer::released);
  EXPECT_EQ(read(step::release, ":2\r\n").what, answer::handed_over);
  EXPECT_EQ(read(step::release_alone, ":3\r\n").what, answer::others_waiting);
  EXPECT_EQ(read(step::raise, "*2\r\n:1\r\n:1800000000000001\r\n").what, answer::granted);
  EXPECT_EQ(read(step::raise, "*2\r\n:0\r\n:0\r\n").what, answer::not_free);
  EXPECT_EQ(read(step::raise, "*2\r\n:-1\r\n:0\r\n").what, answer::not_owner);
  EXPECT_EQ(read(step::cancel, ":0\r\n").what, answer::not_owner);
  EXPECT_EQ(read(step::cancel, ":1\r\n").what, answer::cancelled);
  EXPECT_EQ(read(step::cancel, ":2\r\n").what, answer::released);
}

TEST(ballot_protocol, reads_a_raised_vote_and_one_of_another_weight) {
  const auto read_ballot = [](step what, std::string_view bytes) {
    redis::parser parser;
    EXPECT_EQ(parser.parse(bytes), redis::parse_result::complete);
    const auto& rules = protocol::ballot_rw();
    return protocol::read_step(rules, what, parser.reply(), rules.keys("a"));
  };
  const auto raised =
      read_ballot(step::raise, "*5\r\n:1\r\n:1800000000000001\r\n:5\r\n:9\r\n:0\r\n");
  EXPECT_EQ(raised.what, answer::granted);
  EXPECT_EQ(raised.last_token, 1'800'000'000'000'001);
  const auto low = read_ballot(step::raise, "*5\r\n:0\r\n:7\r\n:5\r\n:-2\r\n:-1\r\n");
  EXPECT_EQ(low.what, answer::not_free);
  EXPECT_EQ(low.last_token, 7);
  EXPECT_EQ(low.ttl_ms, -2);
  EXPECT_EQ(read_ballot(step::raise, "*2\r\n:-1\r\n:0\r\n").what, answer::not_owner);
  // Hazard 31.
  for (const auto* reply : {"*2\r\n:1\r\n:1800000000000001\r\n", "*2\r\n:0\r\n:0\r\n", "*0\r\n",
                            "*5\r\n:2\r\n:7\r\n:5\r\n:-2\r\n:-1\r\n", "+OK\r\n"}) {
    EXPECT_EQ(read_ballot(step::raise, reply).what, answer::unknown) << reply;
  }
  for (const auto& [reply, is_replaced, is_weaker] :
       {std::tuple{"*1\r\n:0\r\n", false, false}, std::tuple{"*2\r\n:0\r\n:1\r\n", true, false},
        std::tuple{"*2\r\n:0\r\n:2\r\n", false, true},
        std::tuple{"*2\r\n:0\r\n:3\r\n", true, true}}) {
    const auto result = read_ballot(step::renew, reply);
    EXPECT_EQ(result.what, answer::not_owner) << reply;
    EXPECT_EQ(result.is_replaced, is_replaced) << reply;
    EXPECT_EQ(result.is_weaker, is_weaker) << reply;
  }
  EXPECT_EQ(read_ballot(step::renew, "*2\r\n:0\r\n:4\r\n").what, answer::unknown);
}

TEST(compare_and_delete, is_for_a_release_of_a_plain_string_that_nobody_waits_for) {
  for (const auto* rules : {&protocol::queued(), &protocol::token(), &protocol::queued_rw(),
                            &protocol::queued_semaphore(), &protocol::two_key(), &protocol::hash(),
                            &protocol::timestamp()}) {
    for (std::size_t i = 0; i < lock::step_count; ++i) {
      lock::step_request request;
      request.what = static_cast<step>(i);
      const bool is_so = (rules == &protocol::queued() || rules == &protocol::token()) &&
                         request.what == step::release_alone;
      EXPECT_EQ(protocol::is_compare_and_delete(*rules, request), is_so) << rules->facts.name << i;
      request.with_text = true;
      EXPECT_FALSE(protocol::is_compare_and_delete(*rules, request)) << rules->facts.name << i;
    }
  }
}

TEST(compare_and_delete, is_spelled_as_the_server_does) {
  using spelling = redis::compare_and_delete;
  lock::step_request request;
  request.token = "t";
  for (const auto& [spelled, expected] :
       {std::pair(spelling::delifeq, "*3\r\n$7\r\nDELIFEQ\r\n$11\r\n{mortise:a}\r\n$1\r\nt\r\n"),
        std::pair(spelling::delex,
                  "*4\r\n$5\r\nDELEX\r\n$11\r\n{mortise:a}\r\n$4\r\nIFEQ\r\n$1\r\nt\r\n")}) {
    std::string bytes;
    protocol::write_compare_and_delete(bytes, spelled, request, protocol::queued().keys("a"));
    EXPECT_EQ(bytes, expected);
  }
}

TEST(compare_and_delete, what_is_no_release_is_for_the_script_to_tell) {
  const auto read = [](std::string_view reply) {
    redis::parser parser;
    EXPECT_EQ(parser.parse(reply), redis::parse_result::complete);
    return protocol::read_compare_and_delete(parser.reply()).what;
  };
  EXPECT_EQ(read(":1\r\n"), answer::released);
  EXPECT_EQ(read(":0\r\n"), answer::others_waiting) << "marked, another's or nobody's";
  EXPECT_EQ(read("-ERR unknown command 'DELIFEQ', with args\r\n"), answer::no_script);
  EXPECT_EQ(read("-NOPERM User b has no permissions\r\n"), answer::no_script);
  EXPECT_EQ(read("-WRONGTYPE Operation\r\n"), answer::no_script);
  EXPECT_EQ(read("-MISCONF Redis is configured\r\n"), answer::refused);
  EXPECT_EQ(read("-READONLY You can't write\r\n"), answer::unsent) << "the connection ends";
  EXPECT_EQ(read("-ERR something new\r\n"), answer::unknown) << "perhaps it was carried out";
  for (const auto* odd : {":2\r\n", ":-1\r\n", "+OK\r\n", "_\r\n", "*1\r\n:1\r\n"}) {
    EXPECT_EQ(read(odd), answer::unknown) << odd;
  }
}

TEST(protocols, say_whether_a_part_can_become_the_whole) {
  for (const auto* rules : {&protocol::queued(), &protocol::queued_rw(), &protocol::token(),
                            &protocol::queued_semaphore(), &protocol::two_key()}) {
    EXPECT_EQ(rules->facts.can_raise, rules->rows.raise.code != nullptr) << rules->facts.name;
  }
}

TEST(refusal, hazard_28_the_table_and_unknown_for_the_rest) {
  for (const auto* text :
       {"BUSY Redis is busy", "MISCONF Redis", "NOREPLICAS Not enough", "OOM command not allowed",
        "TRYAGAIN Multiple keys", "NOPERM this user", "WRONGTYPE Operation", "FOREIGN the key",
        "EXECABORT Transaction discarded because of previous errors.",
        "EXECABORT Transaction discarded because of: MISCONF Redis is configured",
        "ERR Error running script (call to f_1): @user_script:1: @user_script: 1: -OOM command",
        "ERR Error running script (call to f_1): @user_script:1: WRONGTYPE Operation against"}) {
    EXPECT_EQ(protocol::read_error(text).what, answer::refused) << text;
    EXPECT_EQ(protocol::read_error(text).details.server_text, text);
  }
  for (const auto* text : {"UNBLOCKED client unblocked", "ERR something new", ""}) {
    EXPECT_EQ(protocol::read_error(text).what, answer::unknown) << text;
    EXPECT_TRUE(protocol::read_error(text).details.is_ambiguous);
  }
  EXPECT_EQ(protocol::read_error("NOSCRIPT No matching script").what, answer::no_script);
  EXPECT_TRUE(protocol::read_error("BUSY x").is_passing);
  EXPECT_FALSE(protocol::read_error("OOM x").is_passing);
}

// The service has looked at it beforehand.
TEST(refusal, hazard_28_a_script_that_a_service_refuses_to_run_was_not_carried_out) {
  const auto remedy = [](const char* text) {
    const auto parsed = protocol::read_error(text);
    EXPECT_EQ(parsed.what, answer::refused) << text;
    EXPECT_EQ(parsed.details.code, status::refused) << text;
    EXPECT_FALSE(parsed.details.is_ambiguous) << text;
    EXPECT_EQ(parsed.details.server_text, text);
    return parsed.details.message;
  };
  EXPECT_NE(remedy("ERR bad lua script for redis cluster, all the keys that the script uses should "
                   "be passed using the KEYS array, and KEYS should not be in expression")
                .find("script_check_enable"),
            std::string::npos);
  EXPECT_NE(remedy("ERR eval/evalsha command keys must be in same slot").find("redis+cluster://"),
            std::string::npos);
  EXPECT_NE(remedy("ERR for redis cluster, eval/evalsha number of keys can't be negative or zero")
                .find("without a key"),
            std::string::npos);
  for (const char* other : {"ERR bad", "bad lua script", "NOKEY keys must be in same slot"}) {
    EXPECT_EQ(protocol::read_error(other).what, answer::unknown) << other;
  }
}

TEST(refusal, hazard_28_what_a_server_that_does_not_serve_refuses_was_not_carried_out) {
  for (const auto* text : {"READONLY You can't write", "MASTERDOWN Link with MASTER is down",
                           "LOADING Redis", "CLUSTERDOWN Hash slot"}) {
    const auto parsed = protocol::read_error(text);
    EXPECT_EQ(parsed.what, answer::unsent) << text;
    EXPECT_EQ(parsed.details.code, status::refused);
    EXPECT_EQ(parsed.details.server_text, text);
    EXPECT_TRUE(parsed.details.is_retryable);
    EXPECT_FALSE(parsed.details.is_ambiguous);
  }
}

TEST(owner_token, splits_what_it_makes_whatever_the_label) {
  for (const std::string label : {"", "a:b", "x*", ":", "größe"}) {
    const auto token = protocol::make_owner_token({"client", 7, 12, label, 3302});
    for (const auto& text : {token, token + "*"}) {
      const auto parts = protocol::split_owner_token(text);
      EXPECT_EQ(parts.token, token);
      EXPECT_EQ(parts.client, "client");
      EXPECT_EQ(parts.sequence, "7.12");
      EXPECT_EQ(parts.label, label);
      EXPECT_EQ(parts.others_wait, text != token);
    }
  }
  EXPECT_TRUE(protocol::split_owner_token("somebody else's").client.empty());
  EXPECT_TRUE(protocol::split_owner_token("m1:").client.empty());
  EXPECT_TRUE(protocol::split_owner_token("").client.empty());
}

TEST(lease, margins_are_on_the_servers_side) {
  static_assert(lock::server_ttl_ms(30'000) == 30'302);
  static_assert(lock::server_ttl_ms(50) == 53);
  static_assert(lock::grant_ms(30'000) == lock::grant_lease_ms && lock::grant_ms(400) == 400);
  EXPECT_GT(lock::server_ttl_ms(1), 1 + 1);
  static_assert(lock::server_ttl_ms(30'000, 1'000) == 30'032);
  static_assert(lock::server_ttl_ms(1, 1'000) == 4, "rounded up");
  static_assert(lock::server_ttl_ms(longest_ms, 200'000) == longest_ms / 5 * 6 + 2);
}

TEST(lease, the_servers_time_passes_faster_by_the_drift_at_most) {
  static_assert(lock::least_passed_us(1'100'000, 100'000) == 1'000'000);
  static_assert(lock::least_passed_us(1'000, 1'000) == 999);
  static_assert(lock::least_passed_us(0, 1'000) == 0);
  // 732 days of a server's clock that goes 20 % too fast are 610 of ours.
  static_assert(lock::least_passed_us(2 * longest_ms * 1000, 200'000) == longest_ms * 1000 / 3 * 5);
}

TEST(inbox, reads_its_messages_and_leaves_the_rest) {
  const auto grant =
      protocol::read_message("G 1800000000000017 1795227324888577 1 m1:c:7.2:a b:3302 secret");
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->kind, protocol::message_kind::grant);
  EXPECT_EQ(grant->last_token, 1'800'000'000'000'017);
  EXPECT_TRUE(grant->others_wait);
  EXPECT_EQ(grant->gate_id, 7U);
  EXPECT_EQ(grant->owner, "m1:c:7.2:a b:3302");
  EXPECT_EQ(grant->secret, "secret");
  const auto message = protocol::read_message("W m1:c:7.2:a b:3302*");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->owner, "m1:c:7.2:a b:3302");
  const auto head = protocol::read_message("N -1 m1:c:9.1::3302");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->ttl_ms, -1);
  for (const auto* text : {"", "G", "G ", "G 1 2 m1:c:7.2::1", "N x m1:c:7.2::1", "W nobody",
                           "Z m1:c:7.2::1", "G 99999999999999999999 1 1 m1:c:7.2::1"}) {
    EXPECT_FALSE(protocol::read_message(text)) << text;
  }
  // Tokens of a lost counter, from beyond 2^53, and a time that is none (hazard 30).
  const auto read = [](const std::string& token, const std::string& time) {
    return protocol::read_message("G " + token + " " + time + " 0 m1:c:7.2::3302").has_value();
  };
  EXPECT_TRUE(read("1000000000000000", "0"));
  EXPECT_FALSE(read("999999999999999", "0"));
  EXPECT_TRUE(read("9007199254740991", "0"));
  EXPECT_FALSE(read("9007199254740992", "0"));
  EXPECT_FALSE(read("1000000000000000", "-1"));
}

}  // namespace
}  // namespace mortise::testing::protocol_test
