// One cluster serves all tests of a process, and is made whole again after each.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "support/handles.hpp"
#include "support/test_cluster.hpp"

namespace mortise::testing {

class clusters : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!all) all = std::make_unique<test_cluster>();
  }
  void TearDown() override {
    all->heal();
    all->flush();
  }

  // Which it is changes where a test before had a master fail for long enough.
  static std::string address_of_a_master() {
    return all->address_of(all->owner_of(lock_key("order")));
  }

  inline static std::unique_ptr<test_cluster> all;
};

}  // namespace mortise::testing
