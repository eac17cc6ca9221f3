// Servers of a quorum, and what their votes are.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/handles.hpp"
#include "support/server.hpp"
#include "support/tcp_proxy.hpp"

namespace mortise::testing {

// A client's own network to each server.
class networks {
 public:
  explicit networks(const std::vector<std::unique_ptr<test_server>>& servers) {
    for (const auto& server : servers) {
      all_.push_back(std::make_unique<tcp_proxy>(server->socket_path()));
    }
  }
  [[nodiscard]] std::string url(const std::string& query) const {
    std::string text = "redlock:";
    for (const auto& one : all_) {
      text += (one == all_.front() ? "" : ",") + one->url() +
              (one == all_.front() ? "?quarantine=0" + query : "");
    }
    return text;
  }
  void control(std::initializer_list<std::size_t> which, const std::string& command) {
    for (const auto server : which) all_.at(server)->control(command);
  }

 private:
  std::vector<std::unique_ptr<tcp_proxy>> all_;
};

class quorum : public ::testing::Test {
 protected:
  void start(std::size_t count, const std::vector<std::string>& arguments = {}) {
    for (std::size_t i = 0; i < count; ++i) {
      servers.push_back(std::make_unique<test_server>(server_options{.arguments = arguments}));
    }
  }
  // With the client's options at the first. Servers that have just been started vote at once.
  [[nodiscard]] std::string url(const std::string& query = "quarantine=0") const {
    std::string text = "redlock:";
    for (std::size_t i = 0; i < servers.size(); ++i) {
      text += (i == 0 ? "" : ",") + servers[i]->url() + (i == 0 ? "?" + query : "");
    }
    return text;
  }
  // A user of the name, with a client of its own.
  struct lock_user {
    client_handle client;
    lock_handle lock;
  };
  [[nodiscard]] static lock_user open_user(const std::string& url) {
    auto client = open_client(url);
    auto lock = open_lock(client, name);
    return {std::move(client), std::move(lock)};
  }
  // Why the servers of this list are refused. It is asked again, because a quorum opens a client
  // without the server that answers too late to be refused.
  static std::string refusal_of(const std::string& url) {
    const auto error = new_error();
    EXPECT_TRUE(eventually([&] {
      const client_handle client(mortise_client_new(url.data(), url.size(), nullptr, error.get()));
      return !client && mortise_error_status(error.get()) == MORTISE_REFUSED;
    })) << mortise_error_message(error.get());
    return mortise_error_message(error.get());
  }
  std::string owner_at(std::size_t server, const std::string& key = lock_key(name)) {
    return servers[server]->command({"GET", key});
  }
  bool is_free_at(std::size_t server) { return owner_at(server) == "(nil)"; }
  bool is_free() {
    for (std::size_t i = 0; i < servers.size(); ++i) {
      if (!is_free_at(i)) return false;
    }
    return true;
  }

  // Empties two of three servers until the hold is lost. A renewal in between may top the first one
  // up. Each round leaves time for a renewal.
  [[nodiscard]] bool is_lost_when_two_forget(const std::function<bool()>& is_lost) {
    return eventually(
        [&] {
          servers[0]->command({"FLUSHALL"});
          servers[2]->command({"FLUSHALL"});
          return is_lost();
        },
        patience_ms, 900);
  }

  // As which the only client knows it.
  static std::string member_key(test_server& server) {
    return server.command({"KEYS", "mortise:member:*"});
  }

  inline static const std::string name = "report";  // of the lock
  std::vector<std::unique_ptr<test_server>> servers;
};

}  // namespace mortise::testing
