// The holds and the waits of one lock, put together from the events of all clients.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/text/listing.hpp"

namespace mortise::cli {

// A hold or a wait of one handle. Times are on the server's clock, in microseconds since 1970.
struct lock_span {
  enum class kind { hold, wait, retained };
  kind what = kind::hold;
  bool is_open = false;  // it continues
  std::string client;
  std::string host;
  int64_t pid = 0;
  std::string label;
  int64_t handle = 0;
  std::string mode;
  int64_t token = 0;  // of the hold, or of the grant after the wait
  int64_t begin_us = 0;
  int64_t end_us = 0;
  std::string result;  // how it began or ended, if that is remarkable
  // The tokens of the holds that a wait has waited for.
  std::vector<int64_t> behind;

  int64_t lasted_us() const { return end_us - begin_us; }
};

class lock_timeline {
 public:
  explicit lock_timeline(const listing& history);

  // In the order of their begin.
  const std::vector<lock_span>& spans() const { return spans_; }
  // How exact the times are.
  int64_t error_us() const { return error_us_; }
  // The clients whose earlier events are lost: "host pid" and the time of the first event.
  const std::vector<std::pair<std::string, int64_t>>& forgetful() const { return forgetful_; }

 private:
  struct event;
  using handle_key = std::pair<std::string, int64_t>;

  static event read(const listing& history, int64_t index);
  void add(const event& one);
  bool add_wait(const event& one);
  bool add_hold(const event& one);
  void begin_hold(const event& one, int64_t begin_us, const char* result);
  void end_hold(const event& one, const std::string& result);
  void end_wait(const event& one, const std::string& result);
  void end_retained(const event& one);
  lock_span& open(std::map<handle_key, size_t>& open_spans, const event& one, lock_span::kind what,
                  int64_t begin_us);
  void find_holders();
  void find_holders_of(lock_span& wait, const std::vector<size_t>& holds,
                       const std::vector<int64_t>& last_end_us) const;

  std::vector<lock_span> spans_;
  std::map<handle_key, size_t> holds_;
  std::map<handle_key, size_t> waits_;
  std::map<handle_key, size_t> retained_;
  std::vector<std::pair<std::string, int64_t>> forgetful_;
  int64_t error_us_ = 0;
};

}  // namespace mortise::cli
