/** The latest events of one lock in all live clients. */
#ifndef MORTISE_HISTORY_HPP
#define MORTISE_HISTORY_HPP

#include <memory>
#include <string_view>
#include <vector>

#include "error.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

/**
 * What happened to a wait or a hold of one handle. docs/history.md describes the fields. The
 * strings are valid as long as the history.
 */
struct history_event {
  /** The client, its host, process and label. */
  std::string_view client, host;
  std::int64_t pid;
  std::string_view label;
  /** What happened, such as "granted". */
  std::string_view event;
  /** "exclusive" or "shared". */
  std::string_view mode;
  /** The number of the handle in its client, and the fencing token of the hold. 0 for none. */
  std::int64_t handle, token;
  /** The permits of an acquire, and its place in the queue. 0 if unknown. */
  std::int64_t permits, place;
  /** Why a wait or a hold ended without success. */
  std::string_view why;
  /** Microseconds since 1970 on the server's clock, and by how much they may be wrong. */
  std::int64_t time_us, error_us;
  /** How long the wait or the hold had lasted. */
  std::int64_t lasted_us;
};

/** The latest events of a lock. Move-only. It never changes. Any thread. */
class history {
 public:
  /** Takes ownership of a listing of C. */
  explicit history(mortise_listing *raw) noexcept : raw_(raw) {}

  /** The number of clients that answered. */
  std::int64_t answered() const noexcept { return mortise_listing_answered(raw_.get()); }
  /** The number of live clients that did not answer in time. */
  std::int64_t silent() const noexcept { return mortise_listing_silent(raw_.get()); }
  /** The number of clients that answered only in part. */
  std::int64_t truncated() const noexcept { return mortise_listing_truncated(raw_.get()); }
  /** All events, in the order of their times. */
  std::vector<history_event> events() const {
    std::vector<history_event> all;
    for (std::int64_t i = 0; i < mortise_listing_count(raw_.get()); ++i) {
      const auto text = [&](std::string_view key) {
        return mortise_listing_text(raw_.get(), i, key.data(), key.size());
      };
      const auto number = [&](std::string_view key) {
        return mortise_listing_number(raw_.get(), i, key.data(), key.size());
      };
      all.push_back({text("client"), text("host"), number("pid"), text("label"), text("event"),
                     text("mode"), number("handle"), number("token"), number("permits"),
                     number("place"), text("why"), number("time_us"), number("error_us"),
                     number("lasted_us")});
    }
    return all;
  }
  /** The whole history as one JSON text in UTF-8. docs/history.md describes it. */
  std::string_view json() const noexcept { return mortise_listing_json(raw_.get()); }

 private:
  struct deleter {
    void operator()(mortise_listing *raw) const noexcept { mortise_listing_free(raw); }
  };
  std::unique_ptr<mortise_listing, deleter> raw_;
};

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_HISTORY_HPP
