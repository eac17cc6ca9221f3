// What waits to be sent, and who sends it: whoever appends and finds nobody sending sends until
// nothing is left, so requests of others that arrive meanwhile go out in one write. Makes no system
// call; its owner guards it with a mutex, which it leaves while the bytes of next() are on their
// way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "net/transport.hpp"
#include "redis/output_buffer.hpp"

namespace mortise::redis {

class sender {
 public:
  // How many bytes were ever appended, and how many of them have left.
  [[nodiscard]] std::uint64_t appended() const noexcept { return output_.appended(); }
  [[nodiscard]] std::uint64_t sent() const noexcept { return output_.sent(); }
  [[nodiscard]] std::size_t unsent() const noexcept { return output_.unsent(); }
  [[nodiscard]] bool is_empty() const noexcept { return output_.is_empty(); }
  // These two throw bad_alloc.
  void append(std::string_view bytes) { output_.append(bytes); }
  void append(wiped_bytes&& bytes) { output_.append(std::move(bytes)); }

  // Begins to send. False when somebody does already, or the socket has to be waited for first.
  bool begin() noexcept {
    staying_ = 0;
    if (is_sending_ || is_stalled()) return false;
    is_sending_ = true;
    return true;
  }
  // What to send now. Stays where it is, whatever is appended.
  std::string_view next() noexcept { return output_.front(); }
  // What came of it. False when no more can be sent now.
  bool note(const net::io_result& result) noexcept {
    if (result.state == net::io_state::done) {
      output_.note_sent(result.bytes);
      return true;
    }
    stalled_for_ = result.state;
    return false;
  }
  void end() noexcept { is_sending_ = false; }
  [[nodiscard]] bool is_sending() const noexcept { return is_sending_; }

  // Whether it waits until the socket can be read or written, and for which of the two.
  [[nodiscard]] bool is_stalled() const noexcept { return stalled_for_ != net::io_state::done; }
  [[nodiscard]] bool is_stalled_for(net::io_state what) const noexcept {
    return stalled_for_ == what;
  }
  // The socket is so far. True when it waited for that.
  bool resume(net::io_state what) noexcept {
    if (stalled_for_ != what) return false;
    stalled_for_ = net::io_state::done;
    return true;
  }

  // A request stays, because its thread will be back for more: whether enough of them have stayed.
  // Half of what is usually open is work for the server while its thread prepares the other half.
  bool is_burst_due(std::uint64_t usually_open) noexcept {
    return ++staying_ * 2 >= usually_open || output_.unsent() >= burst_bytes;
  }

  // Nothing is appended any more.
  void finish() noexcept { is_finishing_ = true; }
  [[nodiscard]] bool is_finishing() const noexcept { return is_finishing_; }
  // As new; the counts go on.
  void reset() noexcept {
    output_.clear();
    stalled_for_ = net::io_state::done;
    is_finishing_ = false;
  }
  // Gives memory back, if nothing waits; only while nobody sends.
  void release() noexcept { output_.release(); }

 private:
  // What is sent at the latest when its thread does not come back for answers first.
  static constexpr std::size_t burst_bytes = 32U << 10U;

  output_buffer output_;
  net::io_state stalled_for_ = net::io_state::done;
  bool is_sending_ = false;
  bool is_finishing_ = false;
  std::uint64_t staying_ = 0;
};

}  // namespace mortise::redis
