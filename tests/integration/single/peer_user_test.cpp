// The option peer_user: which user's server listens at a unix socket.
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <string>

#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::peer_user_test {
namespace {

class peer_user : public ::testing::Test {
 protected:
  [[nodiscard]] std::string url(const std::string& user) const {
    return server_.url() + "?peer_user=" + user;
  }

  const test_server server_;
  const uid_t own_ = ::geteuid();
};

TEST_F(peer_user, is_a_number_or_a_name) {
  EXPECT_TRUE(open_client(url(std::to_string(own_))));
  const auto* const entry = ::getpwuid(own_);
  ASSERT_NE(entry, nullptr);
  EXPECT_TRUE(open_client(url(entry->pw_name)));
}

TEST_F(peer_user, keeps_the_password_from_the_server_of_another_user) {
  const auto other = std::to_string(own_ + 1);
  const auto problem = problem_of(url(other), MORTISE_UNREACHABLE);
  EXPECT_NE(problem.find(server_.socket_path()), std::string::npos) << problem;
  EXPECT_NE(problem.find("user " + std::to_string(own_) + " listens there instead of peer_user (" +
                         other + ")"),
            std::string::npos)
      << problem;
}

TEST_F(peer_user, is_known_and_is_of_a_unix_socket) {
  const auto problem = problem_of(url("no-such-user"), MORTISE_INVALID_ARGUMENT);
  EXPECT_NE(problem.find("\"no-such-user\" is no user of this system"), std::string::npos)
      << problem;
  for (const std::string place : {"redis://localhost", "local:", "rediss://localhost",
                                  "redis+cluster://localhost", "redis+sentinel://localhost/main"}) {
    const auto refused = problem_of(place + "?peer_user=0", MORTISE_INVALID_ARGUMENT);
    EXPECT_NE(refused.find("peer_user: not supported"), std::string::npos) << refused;
  }
}

}  // namespace
}  // namespace mortise::testing::peer_user_test
