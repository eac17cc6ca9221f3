// A server that speaks TLS, and clients of it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "integration/single/connection_fixture.hpp"
#include "net/tls/tls_transport.hpp"
#include "support/certificates.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing {

inline std::vector<std::string> with_tls(std::vector<std::string> more) {
  more.insert(more.begin(), "tls");
  return more;
}

class tls_server : public test_server {
 public:
  explicit tls_server(std::vector<std::string> more = {})
      : test_server({.arguments = with_tls(std::move(more))}) {}

  [[nodiscard]] std::string folder() const {
    return std::filesystem::path(socket_path()).parent_path();
  }
  [[nodiscard]] std::string file(const std::string& name) const { return folder() + "/" + name; }
  [[nodiscard]] std::string host_url(const std::string& host = "127.0.0.1") const {
    return "rediss://" + host + ":" + std::to_string(port());
  }
  // Of a client that knows the authority.
  [[nodiscard]] std::string trusting_url(const std::string& more = "") const {
    return host_url() + "?tls_ca_file=" + file("ca.pem") + more;
  }
  [[nodiscard]] std::string showing(const std::string& name) const {
    return "&tls_certificate_file=" + file(name + ".pem") + "&tls_key_file=" + file(name + ".key");
  }
  [[nodiscard]] net::tls_terms terms() const {
    net::tls_terms given;
    given.name = "localhost";
    given.ca_file = file("ca.pem");
    return given;
  }
};

// What becomes of a client of this URL: "ok", or the status and the message.
inline std::string attempt_to_open(const std::string& url) {
  const auto error = new_error();
  const client_handle client(mortise_client_new(url.data(), url.size(), nullptr, error.get()));
  if (client) return "ok";
  return status_name(mortise_error_status(error.get())) + ": " + mortise_error_message(error.get());
}

// That a lock of this client works.
inline void expect_a_grant(const client_handle& client, std::string_view name) {
  const auto lock = open_lock(client, name);
  const auto error = new_error();
  EXPECT_EQ(status_name(mortise_lock_acquire(lock.get(), patience_ms, error.get())),
            status_name(MORTISE_OK))
      << mortise_error_message(error.get());
  EXPECT_EQ(status_name(mortise_lock_unlock(lock.get(), error.get())), status_name(MORTISE_OK))
      << mortise_error_message(error.get());
}

}  // namespace mortise::testing
