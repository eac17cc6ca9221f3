/** What all clients that live hold and wait for. */
#ifndef MORTISE_CENSUS_HPP
#define MORTISE_CENSUS_HPP

#include <memory>
#include <string_view>
#include <vector>

#include "error.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

/**
 * What one client has to do with one lock; see docs/census.md. The texts live as long as the
 * census.
 * @since 1.2
 */
struct census_entry {
  /** Which client, where it runs, and the label of its handle. */
  std::string_view client, host;
  std::int64_t pid;
  std::string_view label;
  /** Of the lock; the kind is "mutex", "rw" or "semaphore". */
  std::string_view name, kind;
  /** "exclusive" or "shared", as it holds or first waits; "" without either. */
  std::string_view mode;
  /** Of its hold, 0 without one. */
  std::int64_t holds, token, held_ms, time_left_ms, permits;
  /** How many in this client wait, and for how long the first of them has. */
  std::int64_t waiters, waited_ms;
  /** What has been counted since the client has handles of the lock. */
  std::int64_t grants, contended, waited_total_ms;
  /** How many of the grants waited how long, such as "0.0005:12 0.01:3"; see docs/census.md. */
  std::string_view waits;
  /** 1 while the client keeps the lock for its next acquire, by the option `retain`; else 0. */
  std::int64_t retained;
  /** "client", or "key" where a key of a server tells of it. */
  std::string_view source;
};

/** What all clients that live hold and wait for. Move-only; it never changes: any thread. */
class census {
 public:
  /** Takes one of C over. @since 1.2 */
  explicit census(mortise_census *raw) noexcept : raw_(raw) {}

  /** How many clients have answered. @since 1.2 */
  std::int64_t answered() const noexcept { return mortise_census_answered(raw_.get()); }
  /** How many live and have not answered in time. @since 1.2 */
  std::int64_t silent() const noexcept { return mortise_census_silent(raw_.get()); }
  /** How many have answered, but not to the end in time. @since 1.2 */
  std::int64_t truncated() const noexcept { return mortise_census_truncated(raw_.get()); }
  /** What they have answered. @since 1.2 */
  std::vector<census_entry> entries() const {
    std::vector<census_entry> all;
    for (std::int64_t i = 0; i < mortise_census_count(raw_.get()); ++i) {
      const auto text = [&](std::string_view key) {
        return mortise_census_text(raw_.get(), i, key.data(), key.size());
      };
      const auto number = [&](std::string_view key) {
        return mortise_census_number(raw_.get(), i, key.data(), key.size());
      };
      all.push_back({text("client"),
                     text("host"),
                     number("pid"),
                     text("label"),
                     text("name"),
                     text("kind"),
                     text("mode"),
                     number("holds"),
                     number("token"),
                     number("held_ms"),
                     number("time_left_ms"),
                     number("permits"),
                     number("waiters"),
                     number("waited_ms"),
                     number("grants"),
                     number("contended"),
                     number("waited_total_ms"),
                     text("waits"),
                     number("retained"),
                     text("source")});
    }
    return all;
  }
  /** All of it as one JSON text, as `mortise_census_json`. @since 1.2 */
  std::string_view json() const noexcept { return mortise_census_json(raw_.get()); }

 private:
  struct deleter {
    void operator()(mortise_census *raw) const noexcept { mortise_census_free(raw); }
  };
  std::unique_ptr<mortise_census, deleter> raw_;
};

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_CENSUS_HPP
