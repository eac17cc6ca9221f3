// A client on a host of a network that breaks: a process of its own, which a test tells in lines
// what to do. Make it before the test has threads.
//
//   remote_client holder(network, 6, url);
//   EXPECT_EQ(MORTISE_OK, holder.ask("acquire order 20000").status);
//   holder.tell("watch order");
//   network.cut({6}, {0, 1, 2});
//   holder.hear().at;  // when it was last seen to be held
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
  //   watch NAME    until it is not held any more; `at` is when it was last about to be seen held
  void tell(const std::string& command) { process_.say(command); }
  // As long as that takes, but not for ever.
  answer hear();
  answer ask(const std::string& command) {
    tell(command);
    return hear();
  }

 private:
  child process_;
};

}  // namespace mortise::testing
