// A link with a known latency: a process that passes bytes on between clients and a server, each
// way after a fixed delay. The delay of tests/support/proxy is a lower bound, which is for tests:
// its clock has milliseconds, and with 1000 clients it takes as long as the server.
#pragma once

#include <cstdint>
#include <string>

#include "bench_process.hpp"

namespace mortise::bench {

// Passes bytes on, in this process, between the clients of this socket and the server.
[[noreturn]] void relay_between(int listener, const std::string& server_url,
                                std::int64_t one_way_ns);

class delay_proxy {
 public:
  // Clients connect to url(); what they send reaches the server of `server_url` after `one_way_ns`.
  delay_proxy(const std::string& server_url, std::int64_t one_way_ns);
  ~delay_proxy();
  delay_proxy(const delay_proxy&) = delete;
  delay_proxy& operator=(const delay_proxy&) = delete;

  [[nodiscard]] std::string url() const { return "unix://" + path_; }

 private:
  std::string path_;
  int listener_;
  process relay_;
};

}  // namespace mortise::bench
