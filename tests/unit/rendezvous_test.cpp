#include "deployment/api/rendezvous.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace mortise::deployment {
namespace {

constexpr int name_count = 100'000;

using shards = std::vector<rendezvous::shard>;

shards some(int count) {
  shards made;
  for (int i = 0; i < count; ++i) made.push_back({"10.0.0." + std::to_string(i) + ":6379"});
  return made;
}

// The name of each name's shard.
std::vector<std::string> share_out(const shards& among) {
  const rendezvous places(among);
  std::vector<std::string> found;
  found.reserve(name_count);
  for (int i = 0; i < name_count; ++i) {
    found.push_back(among[places.shard_of("order:" + std::to_string(i))].name);
  }
  return found;
}

// The distance of the distribution from the weights as chi-square. By chance it is about the number
// of the shards, and above it by less than six standard deviations.
void expect_fair(const shards& among) {
  const auto found = share_out(among);
  double weights = 0;
  for (const auto& shard : among) weights += static_cast<double>(shard.weight);
  double chi_square = 0;
  for (const auto& shard : among) {
    const auto count = static_cast<double>(std::count(found.begin(), found.end(), shard.name));
    const double expected = name_count * static_cast<double>(shard.weight) / weights;
    chi_square += (count - expected) * (count - expected) / expected;
  }
  const auto freedom = static_cast<double>(among.size() - 1);
  EXPECT_LT(chi_square, freedom + 6 * std::sqrt(2 * freedom)) << among.size() << " shards";
}

// Of what has changed between the two, everything has come to `to`, or if that is empty, from
// `from`; and it is so much.
void expect_moved(const shards& before, const shards& after, const std::string& from,
                  const std::string& to, double share) {
  const auto old_places = share_out(before);
  const auto new_places = share_out(after);
  int moved = 0;
  for (int i = 0; i < name_count; ++i) {
    const auto& was = old_places[static_cast<std::size_t>(i)];
    const auto& is = new_places[static_cast<std::size_t>(i)];
    if (was == is) continue;
    ++moved;
    ASSERT_EQ(to.empty() ? was : is, to.empty() ? from : to) << "order:" << i;
  }
  const double deviation = std::sqrt(name_count * share * (1 - share));
  EXPECT_NEAR(moved, name_count * share, 6 * deviation);
}

// Were one of these to change, clients of two versions would lock the same name in two places.
TEST(rendezvous, never_changes) {
  EXPECT_EQ(rendezvous_hash(""), 0xefd01f60ba992926U);
  EXPECT_EQ(rendezvous_hash("a"), 0x82a2a958a9bece5bU);
  EXPECT_EQ(rendezvous_hash("foobar"), 0x2c22194922d1672bU);
  EXPECT_EQ(rendezvous_hash("gr\xc3\xb6\xc3\x9f"
                            "e"),
            0x2eb895f56869eaa1U);
  const shards three = {{"a"}, {"b"}, {"c"}};
  const shards weighed = {{"a", 4}, {"b", 3}, {"c", 2}};
  const auto places = [](const shards& among) {
    std::string text;
    for (const auto* name : {"orders", "the lock", "a", "b", "c", "d", "e", "f"}) {
      text += among[rendezvous(among).shard_of(name)].name;
    }
    return text;
  };
  EXPECT_EQ(places(three), "ccbcbbac");
  EXPECT_EQ(places(weighed), "cbbcbcba");
}

TEST(rendezvous, does_not_depend_on_the_order_of_the_shards) {
  const auto among = some(5);
  const shards turned(among.rbegin(), among.rend());
  EXPECT_EQ(share_out(among), share_out(turned));
}

TEST(rendezvous, shares_names_out_evenly) {
  for (const int count : {2, 3, 5, 10, 64}) expect_fair(some(count));
}

TEST(rendezvous, shares_names_out_by_weight) {
  expect_fair({{"small", 1}, {"middle", 2}, {"large", 10}});
  expect_fair({{"a", 100}, {"b", 1}});
}

TEST(rendezvous, a_new_shard_takes_its_share_and_a_removed_one_passes_it_on) {
  const auto few = some(4);
  const auto more = some(5);
  const auto& other = more.back().name;
  expect_moved(few, more, "", other, 1.0 / 5);
  expect_moved(more, few, other, "", 1.0 / 5);
}

TEST(rendezvous, a_weight_that_changes_moves_only_the_difference) {
  const shards before = {{"a", 2}, {"b", 2}, {"c", 2}};
  const shards after = {{"a", 2}, {"b", 4}, {"c", 2}};
  expect_moved(before, after, "", "b", 0.5 - 1.0 / 3);
  expect_moved(after, before, "b", "", 0.5 - 1.0 / 3);
}

TEST(rendezvous, one_shard_has_everything) {
  const rendezvous places({{"only"}});
  EXPECT_EQ(places.shard_of(""), 0U);
  EXPECT_EQ(places.shard_of("order"), 0U);
}

}  // namespace
}  // namespace mortise::deployment
