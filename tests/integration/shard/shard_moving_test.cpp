// A list of shards that changes: the changes that the page about shards calls safe, and the others.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "deployment/api/rendezvous.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::shard_moving_test {
namespace {

class moving_shards : public ::testing::Test {
 protected:
  // Two shards, and then a third.
  [[nodiscard]] std::string old_url() const { return list(2); }
  [[nodiscard]] std::string new_url() const { return list(3); }
  // A name that the third takes from one of the others.
  static std::string moved_name() {
    const deployment::rendezvous places({{"a"}, {"b"}, {"c"}});
    for (int i = 0;; ++i) {
      const auto name = "lock " + std::to_string(i);
      if (places.shard_of(name) == 2) return name;
    }
  }

  // A program of one of the three releases, and the lock as it has it there.
  class program {
   public:
    explicit program(const std::vector<std::string>& urls) {
      for (const auto& url : urls) {
        clients_.push_back(open_client(url));
        locks_.push_back(open_lock(clients_.back(), moved_name()));
      }
    }
    // Acquires all or none, in their order.
    [[nodiscard]] bool acquires() const {
      for (std::size_t i = 0; i < locks_.size(); ++i) {
        if (mortise_lock_try(locks_[i].get(), nullptr) == MORTISE_OK) continue;
        give_back(i);
        return false;
      }
      return true;
    }
    void gives_back() const { give_back(locks_.size()); }

   private:
    void give_back(std::size_t count) const {
      while (count-- > 0) EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(locks_[count].get(), nullptr));
    }
    std::vector<client_handle> clients_;
    std::vector<lock_handle> locks_;
  };
  // Whether the second gets the lock while the first has it.
  static bool both_hold(const program& first, const program& second) {
    EXPECT_TRUE(first.acquires());
    const bool is_second_in = second.acquires();
    if (is_second_in) second.gives_back();
    first.gives_back();
    return is_second_in;
  }

 private:
  [[nodiscard]] std::string list(std::size_t count) const {
    constexpr std::array names = {"a", "b", "c"};
    std::string text = "shard:";
    for (std::size_t i = 0; i < count; ++i) {
      text += (i == 0 ? "" : ",") + servers_.at(i).url() + "?shard=" + names.at(i);
    }
    return text;
  }

  std::array<test_server, 3> servers_;
};

TEST_F(moving_shards, hazard_30_tokens_rise_across_a_pause) {
  std::int64_t last = 0;
  for (const auto& url : {old_url(), new_url(), old_url(), new_url()}) {
    const auto client = open_client(url);
    const auto lock = open_lock(client, moved_name());
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
      EXPECT_GT(mortise_lock_token(lock.get()), last);
      last = mortise_lock_token(lock.get());
      ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
    }
  }
}

TEST_F(moving_shards, two_lists_exclude_whoever_has_one_of_them) {
  const std::vector<std::string> old_list = {old_url()};
  const std::vector<std::string> new_list = {new_url()};
  const std::vector<std::string> both_lists = {old_url(), new_url()};
  const program before(old_list);
  const program between(both_lists);
  const program after(new_list);
  EXPECT_TRUE(both_hold(before, after)) << "why the list is not changed at once";
  // The first two releases side by side, and then the last two.
  EXPECT_FALSE(both_hold(before, between));
  EXPECT_FALSE(both_hold(between, before));
  EXPECT_FALSE(both_hold(between, after));
  EXPECT_FALSE(both_hold(after, between));
  EXPECT_FALSE(both_hold(between, program(both_lists)));
}

}  // namespace
}  // namespace mortise::testing::shard_moving_test
