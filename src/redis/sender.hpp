// The bytes to send, and their sender. A thread that appends, and finds no other sender, sends
// until nothing is left. Requests that arrive meanwhile go out in one write. Makes no system call.
// Its owner guards it with a mutex, which is unlocked while the bytes of next() are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "net/transport.hpp"
#include "redis/resp/output_buffer.hpp"

namespace mortise::redis {

class sender {
 public:
  // How many bytes were appended in all, and how many of them were sent.
  [[nodiscard]] std::uint64_t appended() const noexcept { return output_.appended(); }
  [[nodiscard]] std::uint64_t sent() const noexcept { return output_.sent(); }
  [[nodiscard]] std::size_t unsent() const noexcept { return output_.unsent(); }
  [[nodiscard]] bool is_empty() const noexcept { return output_.is_empty(); }
  // These two throw bad_alloc.
  void append(std::string_view bytes) { output_.append(bytes); }
  void append(wiped_bytes&& bytes) { output_.append(std::move(bytes)); }

  // Begins to send. False when another thread sends, or the socket is not ready.
  bool begin() noexcept {
    staying_ = 0;
    if (is_sending_ || is_stalled()) return false;
    is_sending_ = true;
    return true;
  }
  // The bytes to send now. They stay in place, whatever is appended.
  std::string_view next() noexcept { return output_.front(); }
  // Notes the result. False when no more can be sent now.
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

  // Whether it waits until the socket is readable or writable, and for which of the two.
  [[nodiscard]] bool is_stalled() const noexcept { return stalled_for_ != net::io_state::done; }
  [[nodiscard]] bool is_stalled_for(net::io_state what) const noexcept {
    return stalled_for_ == what;
  }
  // The socket is ready. True if the sender waited for that.
  bool resume(net::io_state what) noexcept {
    if (stalled_for_ != what) return false;
    stalled_for_ = net::io_state::done;
    return true;
  }

  // Counts a request that stays, because its thread will return soon. True when enough requests
  // have stayed: half of the usually open ones. The server works on them while the thread prepares
  // the other half.
  bool is_burst_due(std::uint64_t usually_open) noexcept {
    return ++staying_ * 2 >= usually_open || output_.unsent() >= burst_bytes;
  }

  // No more bytes are appended.
  void finish() noexcept { is_finishing_ = true; }
  [[nodiscard]] bool is_finishing() const noexcept { return is_finishing_; }
  // Resets all but the counts.
  void reset() noexcept {
    output_.clear();
    stalled_for_ = net::io_state::done;
    is_finishing_ = false;
  }
  // Frees the memory of an empty buffer. Only while no thread sends.
  void release() noexcept { output_.release(); }

 private:
  // So many unsent bytes are sent even before the thread returns for answers.
  static constexpr std::size_t burst_bytes = 32U << 10U;

  output_buffer output_;
  net::io_state stalled_for_ = net::io_state::done;
  bool is_sending_ = false;
  bool is_finishing_ = false;
  std::uint64_t staying_ = 0;
};

}  // namespace mortise::redis
