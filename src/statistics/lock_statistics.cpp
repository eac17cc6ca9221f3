#include "statistics/lock_statistics.hpp"

namespace mortise::statistics {

namespace {

struct acquire_end {
  status result;
  const char* name;
};

// A status without a row counts as the last.
constexpr std::array<acquire_end, 10> acquire_ends{{{status::ok, "acquired"},
                                                    {status::not_acquired, "not_acquired"},
                                                    {status::timed_out, "timed_out"},
                                                    {status::cancelled, "cancelled"},
                                                    {status::deadlock, "deadlock"},
                                                    {status::closed, "closed"},
                                                    {status::unreachable, "unreachable"},
                                                    {status::unknown, "unknown"},
                                                    {status::refused, "refused"},
                                                    {status::internal, "failed"}}};

constexpr std::array release_names{"released", "handed_over", "passed",
                                   "retained", "lost",        "failed"};
// Indexed by `reason`.
constexpr std::array reason_names{"unknown",  "expired", "replaced", "server",
                                  "max_hold", "forced",  "stalled"};

labels with(const labels& base, const char* name, const char* value) {
  auto all = base;
  all.emplace_back(name, value);
  return all;
}

}  // namespace

std::size_t lock_statistics::place_of(status result) noexcept {
  static_assert(acquire_ends.size() == end_count);
  std::size_t place = 0;
  while (place < acquire_ends.size() - 1 && acquire_ends[place].result != result) ++place;
  return place;
}

void lock_statistics::acquire_ended(status result, time_ns took) noexcept {
  waiters_.lower();
  acquires_[place_of(result)].note(took);
}

void lock_statistics::hold_lost(reason why) noexcept {
  const auto place = static_cast<std::size_t>(why);
  losses_[place < losses_.size() ? place : 0].add();
}

// Also adds counts of zero, so that a monitoring system sees the first increase.
void lock_statistics::add_to(snapshot& target, const labels& base) const {
  static_assert(reason_names.size() == reason_count && release_names.size() == release_count);
  const auto add_each = [&](const char* family, const char* label, const auto& names,
                            const auto& counters) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      target.add(family, with(base, label, names[i]), static_cast<double>(counters[i].read()));
    }
  };
  // A downgraded writer has reader holds without an acquire.
  bool is_used = waiters_.read() != 0 || holds_.read() != 0 || held_.read().count() != 0;
  for (std::size_t i = 0; i < acquire_ends.size(); ++i) {
    is_used = is_used || acquires_[i].read().count() != 0;
    target.add("mortise_acquire_seconds", with(base, "outcome", acquire_ends[i].name),
               acquires_[i]);
  }
  if (!is_used) return;
  target.add("mortise_hold_seconds", base, held_);
  target.add("mortise_waiters", base, static_cast<double>(waiters_.read()));
  target.add("mortise_holds", base, static_cast<double>(holds_.read()));
  target.add("mortise_contended_total", base, static_cast<double>(contended_.read()));
  target.add("mortise_handoffs_total", with(base, "path", "server"),
             static_cast<double>(by_server_.read()));
  target.add("mortise_handoffs_total", with(base, "path", "local"),
             static_cast<double>(local_.read()));
  add_each("mortise_losses_total", "reason", reason_names, losses_);
  target.add("mortise_renewals_total", with(base, "outcome", "renewed"),
             static_cast<double>(renewed_.read()));
  target.add("mortise_renewals_total", with(base, "outcome", "failed"),
             static_cast<double>(not_renewed_.read()));
  add_each("mortise_release_total", "outcome", release_names, releases_);
}

lock_statistics& uncounted() noexcept {
  static lock_statistics nobodys;
  return nobodys;
}

}  // namespace mortise::statistics
