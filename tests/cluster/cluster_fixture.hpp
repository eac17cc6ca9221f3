// One cluster serves all tests of a process, and is made whole again after each.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "safety/handles.hpp"
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

  static std::string problem_of(const std::string& url, mortise_status expected) {
    const auto error = new_error();
    const client_handle client(mortise_client_new(url.data(), url.size(), nullptr, error.get()));
    EXPECT_FALSE(client);
    EXPECT_EQ(expected, mortise_error_code(error.get())) << mortise_error_message(error.get());
    return mortise_error_message(error.get());
  }
  static void expect_acquired(const lock_handle& lock) {
    const auto error = new_error();
    EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, error.get()))
        << mortise_error_message(error.get());
  }
  static void expect_released(const lock_handle& lock) {
    const auto error = new_error();
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), error.get()))
        << mortise_error_message(error.get());
  }

  inline static std::unique_ptr<test_cluster> all;
};

}  // namespace mortise::testing
