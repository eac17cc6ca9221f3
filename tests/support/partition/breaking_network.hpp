// A network whose hosts can be cut off from each other. Packets between them are lost, or come when
// the hosts are joined again, and no host is notified. There are two implementations.
//
// `namespaces`: each host is a network namespace of the kernel's, so that connections are those of
// a real network. It needs a kernel that lets users have namespaces of their own.
//
// `proxies`: everything is on loopback, and each connection passes a proxy, which knows each host
// by the address that it connects from. It works on each system.
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
  static std::unique_ptr<breaking_network> make(medium kind, std::size_t hosts);
  // Namespaces; or proxies where this kernel allows none, which it prints on stderr.
  static medium best();

  // As nsenter takes it; empty for proxies.
  [[nodiscard]] virtual std::string namespace_of(std::size_t /*host*/) const { return ""; }
  // This process is on the host from now on. It has no threads yet.
  virtual void enter(std::size_t host) = 0;
  // Each of the first is cut off from each of the second.
  virtual void cut(const std::vector<std::size_t>& some,
                   const std::vector<std::size_t>& others) = 0;
  // Packets from the first to the others are lost. Proxies cannot do that, and throw.
  virtual void lose(const std::vector<std::size_t>& sources,
                    const std::vector<std::size_t>& sinks) = 0;
  // Joins all hosts again.
  virtual void join() = 0;
};

[[nodiscard]] inline std::string name_of(breaking_network::medium kind) {
  return kind == breaking_network::medium::proxies ? "proxies" : "namespaces";
}

}  // namespace mortise::testing
