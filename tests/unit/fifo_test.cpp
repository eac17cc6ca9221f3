#include "base/fifo.hpp"

#include <gtest/gtest.h>

#include <string>

namespace mortise::testing::fifo_test {
namespace {

struct item : fifo_link<item> {
  explicit item(char with) : name(with) {}
  char name;
};

std::string names(const fifo<item>& list) {
  std::string found;
  for (const auto* at = list.first(); at != nullptr; at = fifo<item>::next(*at)) found += at->name;
  return found;
}

class fifo_test : public ::testing::Test {
 protected:
  fifo_test() {
    for (auto* one : {&a_, &b_, &c_}) list_.push(*one);
  }
  item a_{'a'}, b_{'b'}, c_{'c'};
  fifo<item> list_;
};

TEST_F(fifo_test, keeps_the_order) {
  EXPECT_EQ(list_.pop(), &a_);
  list_.push(a_);
  EXPECT_EQ(names(list_), "bca");
  while (list_.pop() != nullptr) continue;
  EXPECT_TRUE(list_.is_empty());
  list_.push(b_);
  EXPECT_EQ(names(list_), "b");
}

TEST_F(fifo_test, appends_another_list) {
  fifo<item> other;
  other.take_all(list_);
  EXPECT_TRUE(list_.is_empty());
  item d('d');
  list_.push(d);
  other.take_all(list_);
  other.take_all(list_);
  EXPECT_EQ(names(other), "abcd");
  EXPECT_EQ(other.last(), &d);
}

TEST_F(fifo_test, removes_at_each_place) {
  list_.remove(b_);
  EXPECT_EQ(names(list_), "ac");
  list_.remove(c_);
  list_.push(b_);
  EXPECT_EQ(names(list_), "ab");
  list_.remove(a_);
  list_.remove(b_);
  EXPECT_TRUE(list_.is_empty());
  list_.push(c_);
  EXPECT_EQ(names(list_), "c");
}

}  // namespace
}  // namespace mortise::testing::fifo_test
