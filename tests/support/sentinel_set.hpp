// One master, two replicas and three Sentinels that watch them, which know each other by the time
// the constructor returns. They notice within a second that a server is gone.
//
//   sentinel_set set;
//   open_client(set.url());
//   set.master().kill();
//   set.await_master_other_than(before);
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "support/server.hpp"
#include "support/test_network.hpp"

namespace mortise::testing {

class sentinel_set {
 public:
  static constexpr const char* name = "mymaster";
  struct options {
    // Further arguments; a server or a Sentinel without "tls" has a TCP port.
    std::vector<std::string> of_servers = {};
    std::vector<std::string> of_sentinels = {};
    // What Sentinels are told of the master, such as {"auth-pass", "secret"}.
    std::vector<std::vector<std::string>> told = {};
    std::vector<std::string> server_login = {};    // see test_server
    std::vector<std::string> sentinel_login = {};  // the same
    // Servers are on its hosts 0 to 2, Sentinels on 3 to 5; loopback unless given.
    test_network* network = nullptr;
  };

  sentinel_set() : sentinel_set(options()) {}
  explicit sentinel_set(const options& how);

  // "redis+sentinel://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3/mymaster?QUERY"
  [[nodiscard]] std::string url(const std::string& query = "",
                                const std::string& scheme = "redis+sentinel") const;
  [[nodiscard]] test_server& server(std::size_t i) { return *servers_[i]; }
  [[nodiscard]] test_server& sentinel(std::size_t i) { return *sentinels_[i]; }
  // As the Sentinels say now, those of them that answer, all the same; throws when they do not in
  // time.
  [[nodiscard]] std::size_t master_number();
  [[nodiscard]] test_server& master() { return *servers_[master_number()]; }
  // What is written so far is at the replicas.
  void replicate();
  // The Sentinels make a replica the master, and agree on it when this returns. The one before
  // serves until they get to it, and what it is asked meanwhile is lost: so no client of this name
  // is left there, either.
  void fail_over(const std::string& client_name = "");
  // They agree that another than that one is, which takes writes.
  void await_master_other_than(std::size_t before);
  // How long a master has to be silent before they replace it.
  static constexpr int patience_ms = 2000;
  void set_patience_ms(int ms);
  // Not asked any more, until it is remembered.
  void forget_sentinel(std::size_t i) { is_asked_[i] = false; }
  void remember_sentinel(std::size_t i) { is_asked_[i] = true; }

 private:
  void await_replicas();
  [[nodiscard]] std::size_t number_said_by(std::size_t sentinel);

  void start(std::size_t number, const options& how);
  [[nodiscard]] std::string port_of(std::size_t server) const;

  test_network loopback_;
  test_network& network_;
  std::vector<std::unique_ptr<test_server>> servers_;
  std::vector<std::unique_ptr<test_server>> sentinels_;
  std::vector<bool> is_asked_;
};

}  // namespace mortise::testing
