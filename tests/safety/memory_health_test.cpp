// Memory runs out during a health check. The call reports it, and nothing else is affected.
#include <gtest/gtest.h>

#include <string>

#include "safety/scarce_memory.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::memory_health_test {
namespace {

TEST(memory_of_a_health_check, while_it_is_asked_for) {
  const test_server server;
  const auto client = open_client(server.url());
  const int failures = sweep(whose::both, [&](scarcity& memory) {
    const auto error = new_error();
    memory.begin();
    auto* const found = mortise_client_check_health(client.get(), error.get());
    memory.end();
    if (found == nullptr) {
      // Without memory for the replies, the connection ends.
      const auto code = mortise_error_status(error.get());
      EXPECT_TRUE(code == MORTISE_NO_MEMORY || code == MORTISE_UNKNOWN)
          << mortise_error_message(error.get());
    } else {
      EXPECT_GE(mortise_health_count(found), 20);
    }
    mortise_health_free(found);
    ASSERT_TRUE(answers(client));
  });
  EXPECT_GT(failures, 50);
}

TEST(memory_of_a_health_check, while_a_client_is_opened) {
  const test_server server;
  const int failures = sweep(whose::library, [&](scarcity& memory) {
    const auto address = server.url() + "?health_check=strict";
    const auto error = new_error();
    memory.begin();
    client_handle client(mortise_client_new(address.data(), address.size(), nullptr, error.get()));
    memory.end();
    if (!client) {
      EXPECT_EQ(MORTISE_NO_MEMORY, mortise_error_status(error.get()))
          << mortise_error_message(error.get());
      return;
    }
    EXPECT_EQ(MORTISE_OK, mortise_client_ping(client.get(), nullptr));
    auto* const found = mortise_client_last_health(client.get(), nullptr);
    EXPECT_GE(mortise_health_count(found), 20);
    mortise_health_free(found);
  });
  EXPECT_GT(failures, 20);
}

}  // namespace
}  // namespace mortise::testing::memory_health_test
