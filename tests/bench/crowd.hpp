// Somebody who has 20 names, and 100 others who wait for them in a known order, while something
// befalls their servers.
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
  // What the server that has the key answers.
  using question =
      std::function<std::string(const std::string& key, const std::vector<std::string>& command)>;
  // What befell those who waited.
  struct fate {
    int errors = 0;
    std::string message;   // of the last
    int out_of_place = 0;  // granted before somebody who had come earlier
  };

  crowd(const std::string& url, std::vector<std::string> names, const question& ask);

  [[nodiscard]] std::size_t client_count() const { return clients_.size(); }
  void release_all();
  // When the first of those who wait longest is granted.
  [[nodiscard]] std::int64_t await_grant();
  // Each that is granted gives back, until all were.
  [[nodiscard]] fate drain();

 private:
  void begin(std::size_t client, std::size_t number, const question& ask);
  bool take_next(std::size_t client, std::int64_t timeout_ms, fate& into);

  const std::vector<std::string> names_;
  std::vector<client_ptr> clients_;  // the one who has all is the first
  std::vector<queue_ptr> queues_;    // of each
  std::vector<lock_ptr> locks_;      // of the first client first
  std::vector<std::int64_t> tokens_;
};

}  // namespace mortise::bench
