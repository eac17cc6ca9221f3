// Answers other clients that ask what this one holds and waits for. On the I/O thread, when what
// came with the question has been dealt with, and so seldom that nobody can keep that thread busy.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "net/reactor.hpp"
#include "protocol/listing.hpp"

namespace mortise::client {

class client;
class gate_driver;

class listing_responder final : private net::task {
 public:
  // A page has at most so many entries, and ends when it has so many bytes.
  static constexpr std::size_t page_entries = 512;
  static constexpr std::size_t page_bytes = std::size_t{64} << 10U;
  // So many pages at once, and in each second; who asks for more is not answered, and asks again.
  static constexpr std::int64_t pages_per_second = 50;

  explicit listing_responder(client& about) : client_(about) {}
  // A message to the inbox; any thread.
  void on_message(std::string_view text) noexcept;

 private:
  void run() noexcept override;
  [[nodiscard]] protocol::listing_page page_of(const protocol::listing_request& asked);
  [[nodiscard]] bool is_new(std::uint64_t serial) noexcept;
  [[nodiscard]] bool may_answer(time_ns now) noexcept;

  client& client_;
  std::mutex mutex_;
  std::vector<protocol::listing_request> asked_;
  // Those that were heard last: several servers may pass on the same.
  std::array<std::uint64_t, 64> heard_{};
  std::size_t heard_count_ = 0;
  time_ns paid_until_ = 0;  // each page puts it off; how far it may be ahead is bounded
};

}  // namespace mortise::client
