// One master, two replicas and three Sentinels that watch them, which know each other when the
// constructor returns. They notice within a second that a server is down.
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
    // Settings of the Sentinels for the master, such as {"auth-pass", "secret"}.
    std::vector<std::vector<std::string>> settings = {};
    std::vector<std::string> server_login = {};    // see test_server
    std::vector<std::string> sentinel_login = {};  // the same
    // Servers are on its hosts 0 to 2, Sentinels on 3 to 5; loopback unless given.
    test_network* network = nullptr;
  };

  sentinel_set() : sentinel_set(options()) {}
  explicit sentinel_set(const options& chosen);

  // "redis+sentinel://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3/mymaster?QUERY"
  [[nodiscard]] std::string url(const std::string& query = "",
                                const std::string& scheme = "redis+sentinel") const;
  [[nodiscard]] test_server& server(std::size_t i) { return *servers_[i]; }
  [[nodiscard]] test_server& sentinel(std::size_t i) { return *sentinels_[i]; }
  // As all Sentinels that answer report; throws unless they agree in time.
  [[nodiscard]] std::size_t master_number();
  [[nodiscard]] test_server& master() { return *servers_[master_number()]; }
  // All writes so far are at the replicas.
  void replicate();
  // The Sentinels make a replica the master, and agree on it when this returns. The earlier master
  // serves until they reach it, and its writes meanwhile are lost. So no client of this name stays
  // there either.
  void fail_over(const std::string& client_name = "");
  // They agree that another than that one is, which takes writes.
  void await_master_other_than(std::size_t before);
  // The Sentinels agree on a master, and the other servers follow it. Sentinels leave a replaced
  // master alone for eight seconds and more after its return. This function reconfigures it at
  // once. False if that takes too long.
  [[nodiscard]] bool is_whole_in_time();
  // How long a master has to be silent before they replace it.
  static constexpr int patience_ms = 2000;
  void set_patience_ms(int ms);
  // Not asked until it is remembered.
  void forget_sentinel(std::size_t i) { is_counted_[i] = false; }
  void remember_sentinel(std::size_t i) { is_counted_[i] = true; }

 private:
  void await_replicas();
  [[nodiscard]] bool follows(std::size_t server, std::size_t master);
  [[nodiscard]] std::size_t number_reported_by(std::size_t sentinel);

  void start(std::size_t number, const options& chosen);
  [[nodiscard]] std::string port_of(std::size_t server) const;

  test_network loopback_;
  test_network& network_;
  std::vector<std::unique_ptr<test_server>> servers_;
  std::vector<std::unique_ptr<test_server>> sentinels_;
  std::vector<bool> is_counted_;
};

}  // namespace mortise::testing
