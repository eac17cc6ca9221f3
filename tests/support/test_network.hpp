// The network that servers of a test are in: each on a host of its own, which can be cut off from
// others. This one is no more than the loopback of the machine; tests/partition has those that
// break.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace mortise::testing {

class test_network {
 public:
  test_network() = default;
  virtual ~test_network() = default;
  test_network(const test_network&) = delete;
  test_network& operator=(const test_network&) = delete;

  // Where others find the host; hosts have numbers from 0 on.
  [[nodiscard]] virtual std::string address_of(std::size_t /*host*/) const { return "127.0.0.1"; }
  // What a server has to be given to be there.
  [[nodiscard]] virtual std::vector<std::string> arguments_of(std::size_t /*host*/) const {
    return {};
  }
  // A server listens there from now on.
  virtual void open(std::size_t /*host*/, const std::string& /*port*/) {}
};

}  // namespace mortise::testing
