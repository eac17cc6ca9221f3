// Revocation lists. With a list, a client refuses revoked servers. It also refuses servers that may
// be on a list that is missing or too old.
#include <fstream>

#include "support/tls_fixture.hpp"

namespace mortise::testing::tls_revocation_test {
namespace {

// A server, and what its clients trust: a file of several that tests/support/certificates made.
class tls_revocation : public ::testing::Test {
 protected:
  // A new file appears as a whole.
  void trust(const std::vector<std::string>& names) const {
    std::ofstream whole(trusted() + ".new");
    for (const auto& name : names) whole << std::ifstream(server.file(name + ".pem")).rdbuf();
    whole.close();
    std::filesystem::rename(trusted() + ".new", trusted());
  }
  void make(const std::string& arguments) const { make_certificates(server.folder(), arguments); }
  [[nodiscard]] std::string trusted() const { return server.file("trusted"); }
  [[nodiscard]] std::string url() const {
    return server.host_url() + "?command_timeout=60s&tls_ca_file=" + trusted();
  }
  // As soon as the server has shown its certificate.
  void expect_refused(const std::string& url, const std::string& why) const {
    const time_ns begin = boot_now();
    const auto message = attempt_to_open(url);
    EXPECT_TRUE(message.starts_with("unreachable: ")) << message;
    EXPECT_NE(message.find(why), message.npos) << why << " in: " << message;
    EXPECT_LT(ms_since(begin), patience_ms) << "it is definite";
  }

  // An open connection stays open until the server ends it.
  void end_connections() { EXPECT_EQ(server.command({"CLIENT", "KILL", "TYPE", "pubsub"}), "1"); }
  static void expect_soon_revoked(const client_handle& client) {
    const auto error = new_error();
    const auto lock = open_lock(client, "a");
    EXPECT_TRUE(eventually([&] {
      if (mortise_lock_acquire(lock.get(), 200, error.get()) == MORTISE_OK) {
        mortise_lock_unlock(lock.get(), nullptr);
        return false;
      }
      const std::string message = mortise_error_message(error.get());
      return message.find("has been revoked") != message.npos;
    })) << mortise_error_message(error.get());
  }

  tls_server server;
};

constexpr const char* remedy_list =
    "; give the newest revocation list of this authority, with tls_ca_file or tls_ca_folder";

TEST_F(tls_revocation, a_revoked_certificate_is_refused) {
  make("list --revokes client --revokes server");
  trust({"ca", "list"});
  expect_refused(url(), "the server's certificate has been revoked by \"ca\"; replace it");
  trust({"list", "ca"});
  expect_refused(url(), "the server's certificate has been revoked by \"ca\"; replace it");
}

TEST_F(tls_revocation, one_that_is_on_no_list_is_accepted) {
  make("list --revokes client");
  trust({"ca", "list"});
  expect_a_grant(open_client(url()), "a");
}

TEST_F(tls_revocation, the_newest_list_of_an_authority_counts) {
  make("old --list --expired");
  make("list --revokes client");
  trust({"ca", "old", "list"});
  expect_a_grant(open_client(url()), "a");
}

TEST_F(tls_revocation, nothing_is_asked_for_without_verification) {
  make("list --revokes server");
  trust({"ca", "list"});
  expect_a_grant(open_client(url() + "&tls_verify=off"), "a");
}

// The contents of the next list are unknown.
TEST_F(tls_revocation, an_expired_list_is_refused) {
  make("list --list --expired");
  trust({"ca", "list"});
  expect_refused(url(), std::string("the server's certificate may be revoked: the revocation list "
                                    "of \"ca\" has expired") +
                            remedy_list);
}

TEST_F(tls_revocation, a_list_of_another_authority_alone_is_refused) {
  make("other --signer other");
  make("list --list --signer other");
  trust({"ca", "other", "list"});
  expect_refused(url(),
                 "the server's certificate may be revoked: the revocation list of \"ca\" is "
                 "not in \"" +
                     trusted() + "\"" + remedy_list);
}

// The author of the list has no key of the authority.
TEST_F(tls_revocation, a_list_that_the_authority_has_not_signed_is_refused) {
  std::filesystem::create_directory(server.file("forged"));
  make_certificates(server.file("forged"));
  make_certificates(server.file("forged"), "list --list");
  trust({"ca", "forged/list"});
  expect_refused(url(), std::string("the revocation list of \"ca\" cannot be used: CRL signature "
                                    "failure") +
                            remedy_list);
}

// A server that the list revokes would be accepted.
TEST_F(tls_revocation, a_list_that_is_cut_off_is_refused) {
  make("list --revokes server");
  trust({"ca", "list"});
  for (const std::size_t missing : {4U, 20U, 60U, 100U}) {
    trust({"ca", "list"});
    std::filesystem::resize_file(trusted(), std::filesystem::file_size(trusted()) - missing);
    const auto message = attempt_to_open(url());
    EXPECT_TRUE(message.starts_with("invalid argument: tls_ca_file: \"" + trusted() +
                                    "\" cannot be read to its end: "))
        << missing << ": " << message;
  }
}

// The owner of an intermediate key could sign for any server.
TEST_F(tls_revocation, the_authorities_in_between_are_checked_too) {
  make("between --authority");
  make("server --signer between");
  make("list --list");
  make("list_of_between --list --signer between");
  server.restart();
  trust({"ca", "between", "list", "list_of_between"});
  expect_a_grant(open_client(url()), "a");
  trust({"ca", "between", "list"});
  expect_refused(url(), "the revocation list of \"between\" is not in ");
  trust({"ca", "between", "list_of_between"});
  expect_refused(url(),
                 "the certificate of its authority \"between\" may be revoked: the "
                 "revocation list of \"ca\" is not in ");
  make("list --revokes between");
  trust({"ca", "between", "list", "list_of_between"});
  expect_refused(url(), "the certificate of its authority \"between\" has been revoked by \"ca\"");
}

TEST_F(tls_revocation, lists_in_a_folder_count) {
  const scratch_folder authorities;
  const auto put = [&](const std::string& name) {
    std::filesystem::copy_file(server.file(name + ".pem"), authorities.path() + "/" + name + ".pem",
                               std::filesystem::copy_options::overwrite_existing);
  };
  const auto in_folder = server.host_url() + "?tls_ca_folder=" + authorities.path();
  make("list --list");
  put("ca");
  put("list");
  ASSERT_EQ(std::system(("openssl rehash " + authorities.path()).c_str()), 0);
  const auto client = open_client(in_folder);
  expect_a_grant(client, "a");
  // Written over, by which the folder itself does not change.
  make("list --revokes server");
  put("list");
  expect_a_grant(client, "a");
  end_connections();
  expect_soon_revoked(client);
  expect_refused(in_folder, "the server's certificate has been revoked by \"ca\"");
}

// A ticket from before does not bypass the list either.
TEST_F(tls_revocation, a_new_list_counts_from_the_next_connect) {
  make("list --list");
  trust({"ca", "list"});
  const auto client = open_client(url());
  expect_a_grant(client, "a");
  make("list --revokes server");
  trust({"ca", "list"});
  expect_a_grant(client, "a");
  end_connections();
  expect_soon_revoked(client);
  make("list --list");
  trust({"ca", "list"});
  expect_a_grant(client, "a");
}

}  // namespace
}  // namespace mortise::testing::tls_revocation_test
