/** The server's state of a lock. */
#ifndef MORTISE_INFO_HPP
#define MORTISE_INFO_HPP

#include <chrono>
#include <memory>
#include <vector>

#include "error.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

/** One holder or waiter of a lock. The strings are valid as long as the info. */
struct info_entry {
  /** The owner as the server stores it, its host, label and value. Empty if unknown. */
  std::string_view owner, host, label, value;
  /** The process id, or 0 if it is unknown. */
  std::int64_t pid;
  /** The number of permits of a semaphore, otherwise 1. */
  std::int64_t permits;
  /** Whether it is for the exclusive lock, as a mutex or a writer. */
  bool is_exclusive;
  /** Whether a holder's client has unlocked and retains the lock for its next acquire. */
  bool is_retained;
};

/** The answer to a query, true when the server sent it. Move-only. One thread at a time. */
class info {
 public:
  /** Takes ownership of an info of C. */
  explicit info(mortise_info *raw) noexcept : raw_(raw) {}

  /** Whether an owner held the lock. */
  bool is_held() const noexcept { return mortise_info_is_held(raw()) != 0; }
  /** Whether the holder is this handle. */
  bool is_mine() const noexcept { return mortise_info_is_mine(raw()) != 0; }
  /** The time until the holder's lease ends at the server, or -1 ms without a holder. */
  std::chrono::milliseconds time_left() const noexcept {
    return std::chrono::milliseconds(mortise_info_time_left_ms(raw()));
  }
  /** The newest fencing token of this database. */
  std::int64_t latest_token() const noexcept { return mortise_info_latest_token(raw()); }
  /** The number of holders. */
  std::int64_t holder_count() const noexcept { return mortise_info_holder_count(raw()); }
  /** The number of clients that wait. */
  std::int64_t waiter_count() const noexcept { return mortise_info_waiter_count(raw()); }
  /** The number of permits. 1 for a mutex, 0 for a read-write lock. */
  std::int64_t permits() const noexcept { return mortise_info_permits(raw()); }
  /** The number of permits of a semaphore that are in use. */
  std::int64_t permits_in_use() const noexcept { return mortise_info_permits_in_use(raw()); }
  /** The number of entries that are holders. They come first. */
  std::int64_t shown_holder_count() const noexcept {
    return mortise_info_shown_holder_count(raw());
  }
  /** Up to 16 holders, then up to 16 waiters in their order. */
  std::vector<info_entry> entries() const {
    std::vector<info_entry> all;
    for (std::int64_t i = 0; i < mortise_info_entry_count(raw()); ++i) {
      all.push_back({mortise_info_entry_owner(raw(), i), mortise_info_entry_host(raw(), i),
                     mortise_info_entry_label(raw(), i), mortise_info_entry_value(raw(), i),
                     mortise_info_entry_pid(raw(), i), mortise_info_entry_permits(raw(), i),
                     mortise_info_entry_is_exclusive(raw(), i) != 0,
                     mortise_info_entry_is_retained(raw(), i) != 0});
    }
    return all;
  }

  /** The info for C functions. */
  mortise_info *raw() const noexcept { return raw_.get(); }

 private:
  struct deleter {
    void operator()(mortise_info *raw) const noexcept { mortise_info_free(raw); }
  };
  std::unique_ptr<mortise_info, deleter> raw_;
};

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_INFO_HPP
