// Makes a holder's writes visible to the next holder in this process. The memory model and
// ThreadSanitizer know no order through a server. So a holder writes a word per name before its
// release, and the next holder reads the word after the grant. Some names share a word.
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

  void before_release() noexcept { word_.fetch_add(1, std::memory_order_release); }
  // A read-modify-write, because it sees the newest value and a plain load might not.
  void after_grant() noexcept { word_.fetch_add(1, std::memory_order_acquire); }

 private:
  struct alignas(64) line {
    std::atomic<std::uint64_t> value;
  };
  inline static constinit std::array<line, 64> words{};
  std::atomic<std::uint64_t>& word_;
};

}  // namespace mortise::client
