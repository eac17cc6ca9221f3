// A server, and whether the lock of a process that has died is free there.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing {

class release_on_death : public ::testing::Test {
 protected:
  // Far longer than a test waits.
  static constexpr const char* terms = "?lease=10m&command_timeout=5s&release_on_death=on";

  [[nodiscard]] std::string url() const { return server.url() + terms; }
  // Whether the lock is taken for as long as a release would need several times.
  void expect_kept() {
    const auto client = open_client(server.url());
    const auto lock = open_lock(client, "order");
    EXPECT_EQ(MORTISE_TIMED_OUT, mortise_lock_acquire(lock.get(), second_ms, nullptr));
  }
  void expect_free() {
    const auto client = open_client(server.url());
    const auto lock = open_lock(client, "order");
    EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  }

  test_server server;
};

}  // namespace mortise::testing
