// The rights that docs/redlock.md names are enough at each server of a quorum, and needed.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "support/handles.hpp"
#include "support/pages.hpp"
#include "support/server.hpp"

namespace mortise::testing::quorum_rights_test {
namespace {

class quorum_rights : public ::testing::Test {
 protected:
  void let(const std::vector<std::string>& rule) {
    for (auto& server : servers_) EXPECT_EQ("OK", server.command(rule));
  }
  void let_in() { let(rights_on_page("docs/server.md")); }
  [[nodiscard]] std::string url() const {
    std::string urls = "redlock:";
    for (const auto& server : servers_) {
      urls += (urls.back() == ':' ? "" : ",") + std::string("unix://locker:PASSWORD@") +
              server.socket_path() + (urls.back() == ':' ? "?quarantine=0&lease=900ms" : "");
    }
    return urls;
  }
  std::array<test_server, 3> servers_;
};

TEST_F(quorum_rights, are_enough) {
  let_in();
  let(rights_on_page("docs/redlock.md"));
  const auto client = open_client(url());
  const auto other = open_client(url());
  const auto lock = open_lock(client, "m");
  const auto rw = open_rw(client, "r");
  const auto writer = open_rw(other, "r");
  const info_handle info(mortise_info_new());
  EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_lock_extend(lock.get(), 2'000, nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_lock_query(lock.get(), info.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_acquire(rw.get(), patience_ms, nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_rw_extend(rw.get(), 60'000, nullptr));
  EXPECT_EQ(MORTISE_TIMED_OUT, mortise_rw_write_acquire(writer.get(), 1'500, nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_rw_query(rw.get(), info.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_rw_write_acquire(writer.get(), patience_ms, nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_rw_write_unlock(writer.get(), nullptr));
  for (auto& server : servers_) EXPECT_EQ("", server.command({"ACL", "LOG"}));
}

TEST_F(quorum_rights, of_read_write_locks_are_named) {
  let_in();
  const auto client = open_client(url());
  const auto rw = open_rw(client, "r");
  const auto error = new_error();
  EXPECT_EQ(MORTISE_REFUSED, mortise_rw_read_try(rw.get(), error.get()));
  const std::string message = mortise_error_message(error.get());
  EXPECT_NE(std::string::npos, message.find("+hgetall")) << message;
}

TEST_F(quorum_rights, to_info_is_needed_to_open) {
  let_in();
  let({"ACL", "SETUSER", "locker", "-info"});
  const auto error = new_error();
  const auto where = url();
  const client_handle client(mortise_client_new(where.data(), where.size(), nullptr, error.get()));
  EXPECT_FALSE(client);
  EXPECT_EQ(MORTISE_REFUSED, mortise_error_status(error.get()));
  const std::string message = mortise_error_message(error.get());
  EXPECT_NE(std::string::npos, message.find("+info")) << message;
}

}  // namespace
}  // namespace mortise::testing::quorum_rights_test
