// The network between a client and a server, from tests/support/proxy, whose first lines list its
// commands: cut, refuse, accept, freeze, thaw, forget, delay, redirect.
//
//   tcp_proxy network(first.socket_path());
//   open_client(network.url());
//   network.control("redirect " + second.socket_path());
#pragma once

#include <string>

#include "support/launcher.h"

namespace mortise::testing {

class tcp_proxy {
 public:
  // The path of a server's socket, or HOST:PORT. Clients come to `place`, or to a free port.
  explicit tcp_proxy(const std::string& server, const std::string& place = "127.0.0.1:0");
  ~tcp_proxy();
  tcp_proxy(const tcp_proxy&) = delete;
  tcp_proxy& operator=(const tcp_proxy&) = delete;

  [[nodiscard]] int port() const { return launcher_.port; }
  [[nodiscard]] std::string url() const;
  // It is done.
  void control(const std::string& command);

 private:
  launcher launcher_{};
};

}  // namespace mortise::testing
