// The names of keys and channels, with and without a namespace.
#include "protocol/own_name.hpp"

#include <gtest/gtest.h>

#include <string>

#include "deployment/api/server_config.hpp"
#include "protocol/foreign/interop.hpp"
#include "protocol/native/inbox.hpp"

namespace mortise::testing::own_name_test {
namespace {

using protocol::channel_of;
using protocol::key_set;
using protocol::keys_of;
using protocol::own_name;
using protocol::place_of;

TEST(own_name, begins_with_the_word_behind_at_most_one_namespace) {
  EXPECT_EQ(own_name("mortise:fence"), "mortise:fence");
  EXPECT_EQ(own_name("{mortise:a}:q"), "{mortise:a}:q");
  EXPECT_EQ(own_name("billing:mortise:fence{12}"), "mortise:fence{12}");
  EXPECT_EQ(own_name("billing:{mortise:a}"), "{mortise:a}");
  EXPECT_EQ(own_name("xmortise:mortise:fence"), "mortise:fence");
  for (const char* foreign : {"", ":", "a", "a:", "mortise", "a:mortise", "{a}:mortise",
                              "a:b:mortise:fence", "{a:mortise:b}"}) {
    EXPECT_EQ(own_name(foreign), "") << foreign;
  }
}

TEST(own_name, follows_the_prefix_in_each_native_protocol) {
  const std::string fence = "billing:mortise:fence";
  EXPECT_EQ(keys_of(protocol::queued(), "billing:", "a"),
            (key_set{"billing:{mortise:a}", fence, "billing:{mortise:a}:q"}));
  EXPECT_EQ(keys_of(protocol::ballot(), "billing:", "a"),
            (key_set{"billing:{mortise:a}", "billing:{mortise:a}:ballot", fence,
                     "billing:mortise:quarantine"}));
  for (const auto* rules :
       {&protocol::queued(), &protocol::queued_rw(), &protocol::queued_semaphore(),
        &protocol::ballot(), &protocol::ballot_rw()}) {
    const auto plain = rules->keys("a");
    const auto keys = keys_of(*rules, "billing:", "a");
    ASSERT_EQ(keys.size(), plain.size());
    for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(keys[i], "billing:" + plain[i]);
    EXPECT_EQ(keys_of(*rules, "", "a"), plain);
  }
}

TEST(own_name, follows_no_prefix_in_a_key_of_other_programs) {
  const std::string fence = "billing:mortise:fence";
  EXPECT_EQ(keys_of(protocol::token(), "billing:", "billing:a"), (key_set{"billing:a", fence}));
  EXPECT_EQ(keys_of(protocol::timestamp(), "billing:", "billing:a"),
            (key_set{"billing:a", fence, "{billing:a}:mortise"}));
  EXPECT_EQ(keys_of(protocol::ballot_token(), "billing:", "billing:a"),
            (key_set{"billing:a", "billing:{mortise:billing:a}:ballot", fence,
                     "billing:mortise:quarantine"}));
}

TEST(own_name, of_a_channel) {
  const auto channel = [](const protocol::table& rules, const char* prefix, const char* name) {
    return channel_of(rules, prefix, keys_of(rules, prefix, name));
  };
  EXPECT_EQ(channel(protocol::queued(), "billing:", "a"), "");
  EXPECT_EQ(channel(protocol::ballot(), "", "a"), "mortise:free:{mortise:a}");
  // The script puts both prefixes before the key that it has.
  EXPECT_EQ(channel(protocol::ballot(), "billing:", "a"),
            "billing:mortise:free:billing:{mortise:a}");
  EXPECT_EQ(channel(protocol::ballot_token(), "", "a"), "mortise:free:a");
  EXPECT_EQ(channel(protocol::hash(), "billing:", "billing:a"),
            "redisson_lock__channel:{billing:a}");
  EXPECT_EQ(protocol::inbox_channel({"id"}), "mortise:inbox:id");
  EXPECT_EQ(protocol::inbox_channel({"id", "billing:"}), "billing:mortise:inbox:id");
}

TEST(own_name, of_the_key_that_a_handshake_probes) {
  settings terms;
  const redis::endpoint_url where;
  EXPECT_EQ(deployment::server_config(where, {}, terms).probe_key, "mortise:probe");
  terms.key_namespace = "billing";
  EXPECT_EQ(deployment::server_config(where, {}, terms).probe_key, "billing:mortise:probe");
}

TEST(own_name, of_a_fence_counter_has_the_place) {
  EXPECT_EQ(place_of({"{mortise:a}", "mortise:fence{7}"}), "{7}");
  EXPECT_EQ(place_of({"billing:{mortise:a}", "billing:mortise:fence{7}"}), "{7}");
  EXPECT_EQ(place_of({"billing:{mortise:a}", "billing:mortise:fence"}), "");
}

}  // namespace
}  // namespace mortise::testing::own_name_test
