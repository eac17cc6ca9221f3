// A network whose hosts can be cut off from each other: what one sends to the other is lost, or
// comes when they are joined again, and nobody is told. There are two that keep these promises.
//
// `namespaces`: each host is a network namespace of the kernel's, so that connections are those of
// a real network. It needs a kernel that lets users have namespaces of their own.
//
// `proxies`: everything is on loopback, and whoever is connected to comes by a proxy, which knows
// each host by the address that it connects from. It is there everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/test_network.hpp"

namespace mortise::testing {

class breaking_network : public test_network {
 public:
  enum class medium : std::uint8_t { proxies, namespaces };
  // Throws where it cannot be made.
  static std::unique_ptr<breaking_network> make(medium how, std::size_t hosts);
  // Namespaces; or proxies where this kernel lets nobody make any, which it says on stderr.
  static medium best();

  // This process is on the host from now on. It has no threads yet.
  virtual void enter(std::size_t host) = 0;
  // Each of the first is cut off from each of the second.
  virtual void cut(const std::vector<std::size_t>& some,
                   const std::vector<std::size_t>& others) = 0;
  // Nobody is cut off any more.
  virtual void join() = 0;
};

[[nodiscard]] inline std::string name_of(breaking_network::medium how) {
  return how == breaking_network::medium::proxies ? "proxies" : "namespaces";
}

}  // namespace mortise::testing
