// Replies to listing requests of other clients with this client's holds and waiters. Runs on the
// I/O thread, after the messages that came with the request. A rate limit keeps requests from
// occupying that thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "deployment/api/deployment.hpp"
#include "net/reactor.hpp"
#include "protocol/listing/listing.hpp"

namespace mortise::client {

class client;
class gate_driver;

class listing_responder final : private net::task {
 public:
  // The maximum of entries per page, and the size at which a page ends.
  static constexpr std::size_t page_entries = 512;
  static constexpr std::size_t page_bytes = std::size_t{64} << 10U;
  // The maximum of present holds and waits in a history, and of gates that are searched for them
  // per page.
  static constexpr std::size_t most_present = 512;
  static constexpr std::size_t page_gates = 2048;
  // The rate, and the largest burst. A request above the rate gets no reply, and its sender repeats
  // it.
  static constexpr std::int64_t pages_per_second = 50;

  explicit listing_responder(client& owner) : client_(owner) {}
  // An inbox message. Any thread.
  void on_message(std::string_view text) noexcept;

 private:
  void run() noexcept override;
  // Whether the request is about the database of this lock, or for all locks of any of them.
  [[nodiscard]] bool may_have(const protocol::listing_request& request,
                              const deployment::named_key& lock) const;
  [[nodiscard]] protocol::listing_page page_of(const protocol::listing_request& request);
  [[nodiscard]] protocol::history_page history_of(const protocol::listing_request& request,
                                                  time_ns now);
  void add_recorded(protocol::history_page& page, std::uint64_t from, std::string_view name,
                    time_ns oldest);
  [[nodiscard]] bool is_new(std::uint64_t serial) noexcept;
  [[nodiscard]] bool may_answer(time_ns now) noexcept;

  client& client_;
  std::mutex mutex_;
  std::vector<protocol::listing_request> requests_;
  // Serial numbers of the last requests. Several servers may deliver the same request.
  std::array<std::uint64_t, 64> recent_serials_{};
  std::size_t serial_count_ = 0;
  time_ns paid_until_ = 0;  // each page adds its cost, up to a limit
};

}  // namespace mortise::client
