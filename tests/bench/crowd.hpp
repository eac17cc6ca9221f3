// A client that holds 20 names, and 100 others that wait for them in a known order, while their
// servers fail or move.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "subject.hpp"

namespace mortise::bench {

class crowd {
 public:
  static constexpr int name_count = 20;
  static constexpr int waiters_of_each = 5;
  // The reply of the server that has the key.
  using request =
      std::function<std::string(const std::string& key, const std::vector<std::string>& command)>;
  // The outcome of the waiters.
  struct fate {
    int errors = 0;
    std::string message;   // of the last
    int out_of_place = 0;  // granted before an earlier waiter
  };

  crowd(const std::string& url, std::vector<std::string> names, const request& ask);

  [[nodiscard]] std::size_t client_count() const { return clients_.size(); }
  void release_all();
  // The time of the first grant to one of the longest waiters.
  [[nodiscard]] std::int64_t await_grant();
  // Each that is granted gives back, until all were.
  [[nodiscard]] fate drain();

 private:
  void begin(std::size_t client, std::size_t number, const request& ask);
  bool take_next(std::size_t client, std::int64_t timeout_ms, fate& into);

  const std::vector<std::string> names_;
  std::vector<client_ptr> clients_;  // the holder of all is the first
  std::vector<queue_ptr> queues_;    // of each
  std::vector<lock_ptr> locks_;      // of the first client first
  std::vector<std::int64_t> tokens_;
};

}  // namespace mortise::bench
