#include "deployment/cluster/routing/slot.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace mortise::testing::cluster_slot_test {
namespace {

using cluster::slot_of;

// The samples are of the Redis Cluster specification, and of a server (CLUSTER KEYSLOT).
TEST(cluster_slot, is_the_crc_of_the_key) {
  EXPECT_EQ(0x31C3, slot_of("123456789"));
  EXPECT_EQ(12182, slot_of("foo"));
  EXPECT_EQ(0, slot_of(""));
}

TEST(cluster_slot, is_that_of_what_stands_in_braces) {
  EXPECT_EQ(slot_of("user1000"), slot_of("{user1000}.following"));
  EXPECT_EQ(slot_of("{bar"), slot_of("foo{{bar}}zap"));
  EXPECT_EQ(slot_of("bar"), slot_of("foo{bar}{zap}"));
  // Empty, or not closed: all of it counts.
  EXPECT_NE(slot_of("bar"), slot_of("foo{}{bar}"));
  EXPECT_NE(slot_of("bar"), slot_of("{bar"));
  EXPECT_NE(slot_of("bar"), slot_of("bar}"));
}

TEST(cluster_slot, every_slot_has_a_tag_of_its_own) {
  std::set<std::string> tags;
  for (int slot = 0; slot < cluster::slot_count; ++slot) {
    const auto tag = cluster::tag_of(slot);
    ASSERT_EQ(slot, slot_of("mortise:fence" + tag));
    tags.insert(tag);
  }
  EXPECT_EQ(static_cast<std::size_t>(cluster::slot_count), tags.size());
}

// Of another tag two clients would draw the same fencing tokens from two counters.
TEST(cluster_slot, tags_are_the_same_for_all_versions) {
  EXPECT_EQ("{3560}", cluster::tag_of(0));
  EXPECT_EQ("{0}", cluster::tag_of(13907));
}

}  // namespace
}  // namespace mortise::testing::cluster_slot_test
