// The tables of the formats of other programs, and how a claim waits without a queue.
#include "protocol/foreign/interop.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/options.hpp"
#include "lock/claim/claim.hpp"
#include "protocol/protocols.hpp"
#include "protocol/wire.hpp"
#include "unit/scripted_lock_io.hpp"

namespace mortise::testing::interop_protocol_test {
namespace {

using lock::answer;
using lock::claim_event;
using lock::claim_phase;
using lock::lock_kind;
using lock::step;

const std::vector<const protocol::table*>& all() {
  static const std::vector<const protocol::table*> tables = {
      &protocol::token(),     &protocol::hash(),
      &protocol::timestamp(), &protocol::timestamp_binary(),
      &protocol::two_key(),   &protocol::rw_hash(),
  };
  return tables;
}

TEST(interop_protocols, are_found_by_kind_and_name) {
  EXPECT_EQ(protocol::find(lock_kind::mutex, "token"), &protocol::token());
  EXPECT_EQ(protocol::find(lock_kind::mutex, "hash"), &protocol::hash());
  EXPECT_EQ(protocol::find(lock_kind::rw, "hash"), &protocol::rw_hash());
  EXPECT_EQ(protocol::find(lock_kind::rw, "two_key"), &protocol::two_key());
  EXPECT_EQ(protocol::find(lock_kind::rw, "token"), nullptr);
  EXPECT_EQ(protocol::find(lock_kind::semaphore, "hash"), nullptr);
  EXPECT_EQ(protocol::no_such_protocol(lock_kind::rw, "token").message,
            "protocol: a read-write lock has no protocol token; give one of queued, two_key, hash");
}

TEST(interop_protocols, each_word_of_the_option_is_a_protocol) {
  int count = 0;
  for (const auto& row : known_options()) {
    const auto* among = std::get_if<option::choice>(&row.values);
    if (among == nullptr || among->member != &settings::protocol) continue;
    for (const std::string_view word : among->words) {
      const auto* of_mutex = protocol::find(lock_kind::mutex, word);
      EXPECT_TRUE(of_mutex != nullptr || protocol::find(lock_kind::rw, word) != nullptr) << word;
      ++count;
    }
  }
  EXPECT_GT(count, 0);
}

TEST(interop_protocols, can_do_all_steps_but_raise_set_value_and_adopt) {
  for (const auto* rules : all()) {
    for (std::size_t i = 0; i < lock::step_count; ++i) {
      const auto what = static_cast<step>(i);
      EXPECT_EQ(rules->rows.of(what).code == nullptr,
                what == step::raise || what == step::set_value || what == step::adopt ||
                    what == step::restore)
          << rules->facts.name << i;
      EXPECT_LE(rules->rows.of(what).keys, rules->keys("a").size());
    }
    EXPECT_NE(rules->query.code, nullptr);
    EXPECT_NE(rules->facts.wait, lock::wait_method::queue);
  }
}

TEST(interop_protocols, the_name_is_the_key_and_what_is_ours_lies_beside_it) {
  const std::string fence(protocol::fence_key);
  EXPECT_EQ(protocol::token().keys("a"), (protocol::key_set{"a", fence}));
  EXPECT_EQ(protocol::hash().keys("a"), (protocol::key_set{"a", fence}));
  EXPECT_EQ(protocol::timestamp().keys("a"), (protocol::key_set{"a", fence, "{a}:mortise"}));
  EXPECT_EQ(protocol::rw_hash().keys("{b}c"), (protocol::key_set{"{b}c", fence, "{b}c:mortise"}));
  EXPECT_EQ(protocol::two_key().keys("a"),
            (protocol::key_set{"a:read", fence, "a:write", "{a}:mortise"}));
}

TEST(hash_protocol, has_the_names_that_redisson_gives) {
  const auto& rules = protocol::hash();
  EXPECT_EQ(rules.channel("a"), "redisson_lock__channel:{a}");
  EXPECT_EQ(rules.channel("{a}b"), "redisson_lock__channel:{a}b");
  EXPECT_EQ(rules.owner_token({"0123456789abcdef", 7, 12, "label", 3000}),
            "30313233-3435-3637-3839-616263646566:7000000000000012");
}

TEST(hash_protocol, hazard_21_no_two_attempts_have_the_same_owner) {
  const auto& rules = protocol::hash();
  std::set<std::string> seen;
  for (const std::string client : {"0123456789abcdef", "0123456789abcdeg"}) {
    for (const std::uint64_t gate_id : {1U, 11U, 111U}) {
      for (const std::uint64_t attempt : {1U, 11U, 111U, 1000000000U}) {
        EXPECT_TRUE(seen.insert(rules.owner_token({client, gate_id, attempt, "", 0})).second);
      }
    }
  }
}

TEST(interop_protocols, the_lifetimes_are_those_of_reads_and_then_of_writes) {
  lock::step_request request;
  request.what = step::acquire;
  request.lifetimes_ms = {3000, 1000};  // by mode: the whole, a part
  std::string bytes;
  const auto& rules = protocol::rw_hash();
  protocol::write_step(bytes, rules, request, rules.keys("a"));
  EXPECT_TRUE(bytes.ends_with("$4\r\n1000\r\n$4\r\n3000\r\n"));
}

class waiting_without_a_queue : public ::testing::Test {
 protected:
  lock::claim make(const protocol::table& rules, std::int64_t attempts = -1) {
    lock::lease_terms terms;
    terms.lease_ms = 30'000;
    const lock::wait_terms wait{.waits = true, .poll_interval_ms = 100, .poll_attempts = attempts};
    return {1, "token", rules.facts, {}, terms, wait, io_};
  }
  static lock::step_result taken(std::int64_t ttl_ms) {
    auto result = result_of(answer::not_free);
    result.ttl_ms = ttl_ms;
    return result;
  }
  scripted_lock_io io_;
};

TEST_F(waiting_without_a_queue, polling_asks_at_the_interval_or_when_the_lease_ends) {
  auto claim = make(protocol::token());
  claim.attempt()->start(false, nullptr, start_ns);
  EXPECT_EQ(claim.on_answer(1, taken(-1), start_ns), claim_event::none);  // not reported
  EXPECT_EQ(claim.next_timer(), start_ns + ms(50));
  claim.on_timer(start_ns + ms(50));
  EXPECT_EQ(claim.on_answer(2, taken(20), start_ns + ms(50)), claim_event::none);
  EXPECT_EQ(claim.next_timer(), start_ns + ms(72));
}

TEST_F(waiting_without_a_queue, polling_ends_after_its_attempts) {
  auto claim = make(protocol::token(), 2);
  claim.attempt()->start(false, nullptr, start_ns);
  EXPECT_EQ(claim.on_answer(1, taken(9000), start_ns), claim_event::none);
  claim.on_timer(claim.next_timer());
  EXPECT_EQ(claim.on_answer(2, taken(9000), start_ns + ms(50)), claim_event::not_free);
}

TEST_F(waiting_without_a_queue, a_channel_is_waited_on_until_the_lease_ends) {
  auto claim = make(protocol::hash());
  claim.attempt()->start(false, nullptr, start_ns);
  claim.on_answer(1, taken(9000), start_ns);
  EXPECT_EQ(claim.next_timer(), start_ns + ms(9002));
  claim.attempt()->on_free(start_ns + ms(100));
  EXPECT_EQ(io_.count(), 2U);
  EXPECT_EQ(claim.on_answer(2, granted(), start_ns + ms(101)), claim_event::granted);
}

// With RESP2 the message can overtake the reply.
TEST_F(waiting_without_a_queue, hazard_24_a_word_that_comes_before_the_answer_is_not_forgotten) {
  auto claim = make(protocol::hash());
  claim.attempt()->start(false, nullptr, start_ns);
  claim.attempt()->on_free(start_ns + ms(1));
  EXPECT_EQ(io_.count(), 1U);
  EXPECT_EQ(claim.on_answer(1, taken(9000), start_ns + ms(2)), claim_event::none);
  EXPECT_EQ(io_.count(), 2U);
  EXPECT_EQ(claim.on_answer(2, taken(9000), start_ns + ms(3)), claim_event::none);
  EXPECT_EQ(io_.count(), 2U);  // once
}

TEST_F(waiting_without_a_queue, who_gives_up_and_left_nothing_is_over_at_once) {
  auto claim = make(protocol::token());
  claim.attempt()->start(false, nullptr, start_ns);
  claim.on_answer(1, taken(9000), start_ns);
  claim.release(nullptr, start_ns + ms(1));
  EXPECT_EQ(claim.phase(), claim_phase::over);
  EXPECT_EQ(io_.count(), 1U);
}

}  // namespace
}  // namespace mortise::testing::interop_protocol_test
