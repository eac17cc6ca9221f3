/** A listing of the holds and waits of all live clients. */
#ifndef MORTISE_LISTING_HPP
#define MORTISE_LISTING_HPP

#include <memory>
#include <string_view>
#include <vector>

#include "error.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

/**
 * The relation of one client to one lock. docs/listing.md describes the fields. The strings are
 * valid as long as the listing.
 */
struct listing_entry {
  /** The client, its host, and the label of its handle. */
  std::string_view client, host;
  std::int64_t pid;
  std::string_view label;
  /** The value of the hold. "" without one. */
  std::string_view value;
  /** The lock. The kind is "mutex", "rw" or "semaphore". */
  std::string_view name, kind;
  /** "exclusive" or "shared", as the client holds or first waits. "" without either. */
  std::string_view mode;
  /** The client's hold, 0 without one. Times are in milliseconds. */
  std::int64_t holds, token, held_ms, time_left_ms, permits;
  /** The number of waiters in this client, and the wait of the first one in milliseconds. */
  std::int64_t waiters, waited_ms;
  /** Totals since the client has handles of the lock. */
  std::int64_t grants, contended, waited_total_ms;
  /** How many grants waited how long, such as "0.0005:12 0.01:3". See docs/listing.md. */
  std::string_view waits;
  /**
   * 1 or more while the client retains the lock for its next acquire (option `retain`), otherwise
   * 0.
   */
  std::int64_t retained;
  /** The threads that hold or wait by blocking calls. See docs/deadlocks.md. */
  std::string_view threads;
  /** "client", or "key" if a scan found a key at a server. */
  std::string_view source;
};

/**
 * A listing of the holds and waits of all live clients. Move-only. It never changes. Any thread.
 */
class listing {
 public:
  /** Takes ownership of a listing of C. */
  explicit listing(mortise_listing *raw) noexcept : raw_(raw) {}

  /** The number of clients that answered. After a scan: of servers. */
  std::int64_t answered() const noexcept { return mortise_listing_answered(raw_.get()); }
  /** The number of live clients that did not answer in time. */
  std::int64_t silent() const noexcept { return mortise_listing_silent(raw_.get()); }
  /** The number of clients that answered only in part in time. After a scan: of servers. */
  std::int64_t truncated() const noexcept { return mortise_listing_truncated(raw_.get()); }
  /** All entries. */
  std::vector<listing_entry> entries() const {
    std::vector<listing_entry> all;
    for (std::int64_t i = 0; i < mortise_listing_count(raw_.get()); ++i) {
      const auto text = [&](std::string_view key) {
        return mortise_listing_text(raw_.get(), i, key.data(), key.size());
      };
      const auto number = [&](std::string_view key) {
        return mortise_listing_number(raw_.get(), i, key.data(), key.size());
      };
      all.push_back({text("client"),    text("host"),        number("pid"),
                     text("label"),     text("value"),       text("name"),
                     text("kind"),      text("mode"),        number("holds"),
                     number("token"),   number("held_ms"),   number("time_left_ms"),
                     number("permits"), number("waiters"),   number("waited_ms"),
                     number("grants"),  number("contended"), number("waited_total_ms"),
                     text("waits"),     number("retained"),  text("threads"),
                     text("source")});
    }
    return all;
  }
  /** The whole listing as one JSON text in UTF-8. docs/listing.md describes it. */
  std::string_view json() const noexcept { return mortise_listing_json(raw_.get()); }

 private:
  struct deleter {
    void operator()(mortise_listing *raw) const noexcept { mortise_listing_free(raw); }
  };
  std::unique_ptr<mortise_listing, deleter> raw_;
};

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_LISTING_HPP
