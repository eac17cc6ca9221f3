// A plain client of the Redlock algorithm, as other programs have it: SET NX PX on all servers at
// the same time, a quorum, and without one a pause before it tries again. It has no thread but the
// caller's, which reads all connections.
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

  // Whether a quorum has voted yes. Returns as soon as that is known. Later replies are read before
  // those to the next request.
  bool take(const plain_lock& lock);
  bool release(const plain_lock& lock);
  // Until it is granted, with the pauses that node-redlock makes by default: 200 ms, give or take
  // up to 100. The votes of a failed try are released first.
  void acquire(const plain_lock& lock);

 private:
  struct link;
  void send(const std::vector<std::string>& words);
  bool ask(const std::vector<std::string>& words);
  static bool read_last(link& from, bool& is_vote);

  std::vector<std::unique_ptr<link>> links_;
  std::string compare_and_delete_;  // its SHA-1
};

}  // namespace mortise::bench
