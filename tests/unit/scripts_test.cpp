#include "protocol/scripts/scripts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace mortise::scripts {
namespace {

TEST(scripts, each_has_a_name_a_text_and_a_hash_of_its_own) {
  ASSERT_FALSE(all().empty());
  std::set<std::string_view> hashes;
  for (const auto* script : all()) {
    EXPECT_FALSE(script->name.empty());
    EXPECT_FALSE(script->text.empty());
    ASSERT_EQ(script->sha1.size(), 40U) << script->name;
    EXPECT_EQ(script->sha1.find_first_not_of("0123456789abcdef"), std::string_view::npos);
    EXPECT_TRUE(hashes.insert(script->sha1).second) << script->name;
  }
}

TEST(scripts, are_in_the_order_of_their_names) {
  EXPECT_TRUE(std::is_sorted(all().begin(), all().end(), [](const auto* left, const auto* right) {
    return left->name < right->name;
  }));
}

TEST(scripts, are_sent_without_comment_lines_and_with_includes_resolved) {
  for (const auto* script : all()) {
    EXPECT_NE(script->text.substr(0, 2), "--") << script->name;
    EXPECT_EQ(script->text.find("\n--"), std::string_view::npos) << script->name;
    EXPECT_EQ(script->text.find("#include"), std::string_view::npos) << script->name;
  }
}

}  // namespace
}  // namespace mortise::scripts
