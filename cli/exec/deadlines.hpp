// The deadlines of a command. Pure arithmetic of CLOCK_BOOTTIME, which continues while the machine
// is suspended (hazard 2).
#pragma once

#include <algorithm>
#include <cstdint>

#include "cli/exec/clock.hpp"

namespace mortise::cli::exec {

struct deadlines {
  int64_t term_at_ns = 0;      // SIGTERM to the command
  int64_t kill_at_ns = 0;      // SIGKILL by the lock holder
  int64_t launcher_at_ns = 0;  // SIGKILL by the launcher, if the lock holder did not

  bool operator==(const deadlines&) const = default;
};

struct limits {
  int64_t grace_ms = 0;            // between SIGTERM and SIGKILL
  int64_t margin_ms = 0;           // between SIGKILL and the end of the lease or of --at-most
  int64_t launcher_margin_ms = 0;  // between the launcher's SIGKILL and the end of the lease
  int64_t at_most_ns = 0;          // 0: no limit
};

// The hold is valid until `valid_until_ns`. The process tree is dead before this time. The launcher
// only ensures this limit, even if --at-most ends sooner.
inline deadlines deadlines_of(int64_t valid_until_ns, const limits& within) {
  const int64_t margin_ns = within.margin_ms * ns_per_ms;
  int64_t end_ns = valid_until_ns;
  if (within.at_most_ns != 0) end_ns = std::min(end_ns, within.at_most_ns);
  const int64_t kill_at_ns = end_ns - margin_ns;
  return {kill_at_ns - within.grace_ms * ns_per_ms, kill_at_ns,
          valid_until_ns - within.launcher_margin_ms * ns_per_ms};
}

// The deadlines of a command that has to end now. Its hold is valid until `valid_until_ns`, or is
// lost if this is 0. After a loss the command has the full grace time.
inline deadlines deadlines_from(int64_t now_ns, int64_t valid_until_ns, const limits& within) {
  const int64_t grace_at_ns = now_ns + within.grace_ms * ns_per_ms;
  if (valid_until_ns == 0) {
    return {now_ns, grace_at_ns, grace_at_ns + within.launcher_margin_ms * ns_per_ms};
  }
  const auto until = deadlines_of(valid_until_ns, within);
  return {now_ns, std::min(grace_at_ns, until.kill_at_ns), until.launcher_at_ns};
}

// The lock holder has sent SIGKILL, and some process has not ended yet, for example because it
// belongs to another user. The launcher could do no more, unless the lock holder hangs.
inline int64_t launcher_at_ns_while_killing(int64_t now_ns, int64_t launcher_at_ns) {
  constexpr int64_t longest_pause_ms = 1000;
  return std::max(launcher_at_ns, now_ns + longest_pause_ms * ns_per_ms);
}

constexpr int64_t default_grace_ms = 5000;
constexpr int64_t longest_margin_ms = 500;

// A hold that is renewed at a third of its lease always has more than half of the lease left. A
// third for the grace time and a twentieth before the end leave room for a late renewal.
constexpr int64_t longest_grace_ms(int64_t valid_ms) { return valid_ms / 3; }
constexpr int64_t margin_ms_of(int64_t valid_ms) {
  return std::min(longest_margin_ms, valid_ms / 20);
}

}  // namespace mortise::cli::exec
