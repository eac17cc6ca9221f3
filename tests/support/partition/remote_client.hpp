// A client on a host of a network that breaks: a process of its own, which a test commands in
// lines. Make it before the test has threads.
//
//   remote_client holder(network, 6, url);
//   EXPECT_EQ(MORTISE_OK, holder.ask("acquire order 20000").status);
//   holder.control("watch order");
//   network.cut({6}, {0, 1, 2});
//   holder.receive().at;  // when it was last seen to be held
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/time.hpp"
#include "mortise/mortise.h"
#include "support/child.hpp"
#include "support/partition/breaking_network.hpp"

namespace mortise::testing {

class remote_client {
 public:
  struct answer {
    time_ns at = 0;  // when it was known, by a clock that all hosts share
    mortise_status status = MORTISE_UNKNOWN;
    std::int64_t token = 0;
    std::string message;
  };

  remote_client(breaking_network& network, std::size_t host, const std::string& url);

  //   try NAME, acquire NAME MS, extend NAME, unlock NAME    that call
  //   ping                                                   of the client
  //   held NAME     OK or NOT_ACQUIRED
  //   watch NAME    until it is no longer held; `at` is when it was last about to be seen held
  void control(const std::string& command) { process_.send(command); }
  // As long as that takes, up to a limit.
  answer receive();
  answer ask(const std::string& command) {
    control(command);
    return receive();
  }

 private:
  child process_;
};

}  // namespace mortise::testing
