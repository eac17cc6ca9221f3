// The rights that capi/doc/protocols.md names are enough.
#include <gtest/gtest.h>

#include <string>

#include "interop/article_locks.hpp"
#include "safety/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing {
namespace {

class rights : public ::testing::Test {
 protected:
  rights() {
    server_.command({"ACL", "SETUSER", "guest", "on", "nopass", "resetkeys", "resetchannels", "~k",
                     "~k:read", "~k:write", "~{k}:mortise", "~mortise:*", "&mortise:*",
                     "&redisson_lock__channel:*", "+@all", "-@dangerous", "+info", "+client|kill"});
  }
  client_handle open(const std::string& protocol) {
    return open_client("unix://guest:x@" + server_.socket_path() +
                       "?poll_interval=20ms&protocol=" + protocol);
  }
  test_server server_;
};

TEST_F(rights, are_enough_for_mutexes) {
  const auto bare = server_.connect();
  for (const auto& format : mutex_formats()) {
    const auto client = open(format.protocol);
    const auto lock = open_lock(client, "k");
    const auto other = format.other(*bare, "k");
    ASSERT_TRUE(other->take(300));
    EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
    EXPECT_EQ(MORTISE_OK, mortise_lock_extend(lock.get(), 60'000, nullptr));
    const info_handle info(mortise_info_new());
    EXPECT_EQ(MORTISE_OK, mortise_lock_query(lock.get(), info.get(), nullptr));
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr)) << format.protocol;
  }
}

TEST_F(rights, are_enough_for_read_write_locks) {
  for (const auto& format : rw_formats()) {
    const auto client = open(format.protocol);
    auto* const rw = mortise_rw_new(client.get(), "k", 1, nullptr, nullptr);
    EXPECT_EQ(MORTISE_OK, mortise_rw_read_try(rw, nullptr)) << format.protocol;
    EXPECT_EQ(MORTISE_OK, mortise_rw_extend(rw, 60'000, nullptr));
    EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw, nullptr));
    EXPECT_EQ(MORTISE_OK, mortise_rw_write_try(rw, nullptr));
    EXPECT_EQ(MORTISE_OK, mortise_rw_write_unlock(rw, nullptr));
    mortise_rw_free(rw);
  }
}

}  // namespace
}  // namespace mortise::testing
