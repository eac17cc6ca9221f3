// The memory of a client after the server has forgotten its scripts.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstddef>
#include <string>
#include <vector>

#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::script_memory_test {
namespace {

constexpr std::size_t lock_count = 500;

std::size_t allocated() {
  const auto seen = ::mallinfo2();
  return seen.uordblks + seen.hblkhd;
}

class script_memory : public ::testing::Test {
 protected:
  script_memory() {
    for (std::size_t i = 0; i < lock_count; ++i) {
      locks_.push_back(open_rw(client_, "order " + std::to_string(i)));
    }
  }

  // The server answers when all requests are on their way.
  void use_all() {
    server_.pause();
    for (std::size_t i = 0; i < lock_count; ++i) {
      ASSERT_EQ(MORTISE_OK,
                mortise_rw_read_acquire_async(locks_[i].get(), queue_.get(),
                                              static_cast<std::int64_t>(i), patience_ms, nullptr));
    }
    server_.resume();
    for (std::size_t i = 0; i < lock_count; ++i) ASSERT_EQ(MORTISE_OK, next_event(queue_).status);
    for (const auto& lock : locks_) {
      ASSERT_EQ(MORTISE_OK, mortise_rw_read_unlock(lock.get(), nullptr));
    }
  }

  test_server server_;
  const client_handle client_ = open_client(server_.url());
  const queue_handle queue_{mortise_queue_new(client_.get(), lock_count, nullptr)};
  std::vector<rw_handle> locks_;
};

// Each of the requests is repeated with the text of its script, which has 25 KB.
TEST_F(script_memory, keeps_no_text_that_was_sent) {
  use_all();
  const auto before = allocated();
  server_.command({"SCRIPT", "FLUSH"});
  use_all();
  EXPECT_LT(allocated(), before + lock_count * 2000);
}

}  // namespace
}  // namespace mortise::testing::script_memory_test
