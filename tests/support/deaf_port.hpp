// A TCP port of this host where every attempt to connect hangs, as behind a firewall that drops
// packets. Its queue of connections is full and never accepted, so the kernel swallows new ones.
#pragma once

#include <string>
#include <vector>

namespace mortise::testing {

class deaf_port {
 public:
  deaf_port();
  ~deaf_port();
  deaf_port(const deaf_port&) = delete;
  deaf_port& operator=(const deaf_port&) = delete;

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }

 private:
  int port_ = 0;
  std::vector<int> descriptors_;
};

}  // namespace mortise::testing
