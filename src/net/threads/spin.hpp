// Decides whether a caller that leads and waits alone spins before it sleeps. To spin is to poll
// for the reply again and again. A wake-up takes longer than the reply of a near server. But other
// threads may need the core. Then a spinning thread loses the core for a whole slice, or delays the
// server whose reply it polls for. Both show in the time until the reply.
//
// An adaptive caller therefore compares times. It knows the mean time of a wait that sleeps, and it
// keeps a credit. Each wait that spun adds the time that it saved, or takes away the time that it
// lost. The caller spins while the credit lasts. Saved time fills the credit up to some slices, so
// a lost slice on a quiet machine stops nothing. Without credit the caller sleeps, and each sleep
// earns a hundredth of its time for the next try. So the tries cost 1 % of the time of all waits
// where spinning always loses. A caller that spins also sleeps for a few waits from time to time,
// because the mean changes with the load. Pure: the times are arguments.
#pragma once

#include <algorithm>

#include "base/time.hpp"

namespace mortise::net {

class spin {
 public:
  // `length_ns`: how long each wait spins. 0: not at all. Negative: as long as it pays off.
  explicit spin(time_ns length_ns) noexcept : length_ns_(length_ns) {}

  // Whether to begin(), for the reply to a request of that time; 0 without a request.
  [[nodiscard]] bool is_due(time_ns request_ns) const noexcept {
    if (!is_adaptive()) return length_ns_ > 0;
    return request_ns > 0 && is_worthwhile_ && samples_left_ == 0 && request_ns >= resume_ns_;
  }
  // Whether note_cores() is due before begin(): a thread may be moved at any time.
  [[nodiscard]] bool needs_cores(time_ns now) const noexcept {
    return is_adaptive() && now >= count_ns_;
  }
  // Notes how many cores the caller may use.
  void note_cores(int count, time_ns now) noexcept {
    count_ns_ = now + count_interval_ns;
    if (count < 2) resume_ns_ = count_ns_;
  }
  // A caller is about to poll. False when it must not.
  bool begin(time_ns request_ns, time_ns now) noexcept {
    if (!is_due(request_ns)) return false;
    end_ns_ = is_adaptive() ? request_ns + longest_spin_ns : now + length_ns_;
    spin_request_ns_ = request_ns;
    stopped_ns_ = 0;
    return true;
  }
  // A poll found nothing. Returns whether to poll again.
  bool may_continue(time_ns now) noexcept {
    if (now < end_ns_) return true;
    stopped_ns_ = now;
    return false;
  }
  // The reply came, by a poll or after a sleep.
  void note_reply(time_ns request_ns, time_ns now) noexcept {
    if (!is_adaptive() || request_ns <= 0) return;
    if (spin_request_ns_ == request_ns) {
      count_spin(request_ns, now);
    } else {
      count_sleep(now - request_ns);
    }
    is_worthwhile_ =
        sleeps_ == warm_up_sleeps && sleep_mean_ns_ <= longest_spin_ns && credit_ns_ > 0;
  }

 private:
  // A longer wait is not worth a spin: the wake-up is a small part of it.
  static constexpr time_ns longest_spin_ns = 150 * ns_per_us;
  static constexpr int warm_up_sleeps = 8;
  // More than the slices that a quiet machine takes from a thread within a moment.
  static constexpr time_ns most_credit_ns = 30 * ns_per_ms;
  // Where each try ends in the throttling of a control group, the loss is many slices.
  static constexpr time_ns least_credit_ns = -200 * ns_per_ms;
  static constexpr time_ns try_share = 100;
  // A few sleeps for the mean, among so many waits that they cost nearly nothing.
  static constexpr int sample_sleeps = 8;
  static constexpr int spins_between_samples = 512;
  static constexpr time_ns sample_interval_ns = 100 * ns_per_ms;
  static constexpr time_ns count_interval_ns = 100 * ns_per_ms;

  [[nodiscard]] bool is_adaptive() const noexcept { return length_ns_ < 0; }
  // A wait that gave up is charged for the spin only: a server that is late is late for sleepers,
  // too.
  void count_spin(time_ns request_ns, time_ns now) noexcept {
    const time_ns spent_ns =
        stopped_ns_ == 0 ? now - request_ns
                         : std::min(now - request_ns, stopped_ns_ - request_ns + sleep_mean_ns_);
    credit_ns_ =
        std::clamp(credit_ns_ + sleep_mean_ns_ - spent_ns, least_credit_ns, most_credit_ns);
    if (++spins_ < spins_between_samples || now < sample_ns_) return;
    spins_ = 0;
    samples_left_ = sample_sleeps;
    sample_ns_ = now + sample_interval_ns;
  }
  void count_sleep(time_ns length_ns) noexcept {
    sleep_mean_ns_ += sleeps_ == 0 ? length_ns : (length_ns - sleep_mean_ns_) / 8;
    sleeps_ = std::min(sleeps_ + 1, warm_up_sleeps);
    if (samples_left_ > 0) --samples_left_;
    if (credit_ns_ <= 0) credit_ns_ += length_ns / try_share;
  }

  time_ns length_ns_;
  bool is_worthwhile_ = false;
  time_ns credit_ns_ = 0;
  time_ns sleep_mean_ns_ = 0;    // of waits that slept
  int sleeps_ = 0;               // up to warm_up_sleeps
  int spins_ = 0;                // since the last sample
  int samples_left_ = 0;         // waits that sleep for the mean
  time_ns sample_ns_ = 0;        // the earliest time of the next sample
  time_ns spin_request_ns_ = 0;  // the request of the last spin
  time_ns end_ns_ = 0;           // when that spin ends
  time_ns stopped_ns_ = 0;       // when it ended without a reply; 0 if it did not
  time_ns resume_ns_ = 0;
  time_ns count_ns_ = 0;  // when to count the cores
};

}  // namespace mortise::net
