// What a holder has written in this process before it gave its lock back, the next holder sees. The
// memory model knows of no order that goes by way of a server, and neither does ThreadSanitizer, so
// here it is: one word per name (some names share one), written by who gives back and read by who
// is granted.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

namespace mortise::client {

class handover_order {
 public:
  explicit handover_order(std::string_view lock_key) noexcept
      : word_(words.at(std::hash<std::string_view>()(lock_key) % words.size()).value) {}

  void before_giving_back() noexcept { word_.fetch_add(1, std::memory_order_release); }
  // A change, too, because a change sees the newest value and a mere look might not.
  void after_grant() noexcept { word_.fetch_add(1, std::memory_order_acquire); }

 private:
  struct alignas(64) line {
    std::atomic<std::uint64_t> value;
  };
  inline static constinit std::array<line, 64> words{};
  std::atomic<std::uint64_t>& word_;
};

}  // namespace mortise::client
