// A plain client of the Redlock algorithm, as other programs have it: SET NX PX on all servers at
// the same time, a quorum, and where there is none, a pause before it tries anew. It has no thread
// but the caller's, which reads all connections.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "reference.hpp"

namespace mortise::bench {

class quorum_client {
 public:
  explicit quorum_client(const std::vector<std::string>& urls);
  ~quorum_client();
  quorum_client(const quorum_client&) = delete;
  quorum_client& operator=(const quorum_client&) = delete;

  // Whether a quorum has said yes; returns as soon as that is known. Answers that come later are
  // read before those to what is asked next.
  bool take(const plain_lock& lock);
  bool release(const plain_lock& lock);
  // Until it is granted, with the pauses that node-redlock makes by default: 200 ms, give or take
  // up to 100. What was had of a failed try is given back first.
  void acquire(const plain_lock& lock);

 private:
  struct link;
  void send(const std::vector<std::string>& words);
  bool ask(const std::vector<std::string>& words);
  static bool read_last(link& from, bool& said_yes);

  std::vector<std::unique_ptr<link>> links_;
  std::string compare_and_delete_;  // its SHA-1
};

}  // namespace mortise::bench
