/** What the server knows of a lock. */
#ifndef MORTISE_INFO_HPP
#define MORTISE_INFO_HPP

#include <chrono>
#include <memory>
#include <vector>

#include "error.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

/** One who holds a lock or waits for it. The texts live as long as the info. @since 1.2 */
struct info_entry {
  /** The owner as the server stores it, its host and label; empty when unknown. */
  std::string_view owner, host, label;
  /** 0 when unknown. */
  std::int64_t pid;
  /** How many permits of a semaphore; else 1. */
  std::int64_t weight;
  /** Whether it is for the whole lock: a mutex, a writer. */
  bool is_exclusive;
  /** Whether a holder's client has unlocked and keeps the lock for its next acquire. */
  bool is_retained;
};

/** The answer to a query. It was true at the server when it was sent. Move-only. @since 1.2 */
class info {
 public:
  /** Takes one of C over. @since 1.2 */
  explicit info(mortise_info *raw) noexcept : raw_(raw) {}

  /** Whether somebody held the lock. @since 1.2 */
  bool is_held() const noexcept { return mortise_info_is_held(raw()) != 0; }
  /** Whether the holder is this handle. @since 1.2 */
  bool is_mine() const noexcept { return mortise_info_is_mine(raw()) != 0; }
  /** Until the holder's lease ends at the server; -1 ms when nobody holds. @since 1.2 */
  std::chrono::milliseconds time_left() const noexcept {
    return std::chrono::milliseconds(mortise_info_time_left_ms(raw()));
  }
  /** The newest fencing token drawn in this database. @since 1.2 */
  std::int64_t latest_token() const noexcept { return mortise_info_latest_token(raw()); }
  /** How many hold. @since 1.2 */
  std::int64_t holder_count() const noexcept { return mortise_info_holder_count(raw()); }
  /** How many clients wait. @since 1.2 */
  std::int64_t waiter_count() const noexcept { return mortise_info_waiter_count(raw()); }
  /** How many permits there are; 1 of a mutex, 0 of a read-write lock. @since 1.2 */
  std::int64_t permits() const noexcept { return mortise_info_permits(raw()); }
  /** How many of a semaphore are in use. @since 1.2 */
  std::int64_t permits_in_use() const noexcept { return mortise_info_permits_in_use(raw()); }
  /** How many of the entries are holders; they come first. @since 1.2 */
  std::int64_t shown_holder_count() const noexcept {
    return mortise_info_shown_holder_count(raw());
  }
  /** Holders and then waiters in their order, at most 16 of each. @since 1.2 */
  std::vector<info_entry> entries() const {
    std::vector<info_entry> all;
    for (std::int64_t i = 0; i < mortise_info_entry_count(raw()); ++i) {
      all.push_back({mortise_info_entry_owner(raw(), i), mortise_info_entry_host(raw(), i),
                     mortise_info_entry_label(raw(), i), mortise_info_entry_pid(raw(), i),
                     mortise_info_entry_weight(raw(), i),
                     mortise_info_entry_is_exclusive(raw(), i) != 0,
                     mortise_info_entry_is_retained(raw(), i) != 0});
    }
    return all;
  }

  /** For the C functions. @since 1.2 */
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
