// The locks of one `mortise exec`, all or none, through the C ABI.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/exec/plan.hpp"
#include "cli/failure.hpp"
#include "cli/handles.hpp"
#include "cli/held_by_id.hpp"

namespace mortise::cli::exec {

// An event of the locks.
struct lock_event {
  mortise_kind what;
  mortise_status status;
  std::string text;
  std::string server_text;
};

class locks {
 public:
  // Connects. Throws a failure.
  explicit locks(const plan& request);

  // Readable when there may be events.
  int descriptor() const { return mortise_queue_fd(queue_.get()); }
  std::optional<lock_event> next();

  // Waits as the plan requires. Then reports an event MORTISE_EVENT_ACQUIRED. Throws a failure.
  void start_acquire();
  // The same at once, for a plan with --hold. Throws a failure.
  void adopt();
  // After an unsuccessful try: throws a failure if a name is used by another kind of lock. A try
  // only detects that the name is in use.
  void check_kinds() const;
  void cancel() { mortise_multi_cancel(multi_.get(), nullptr); }
  // After a wait a hold depends on the server's message. This call confirms it with the server.
  // Throws.
  void confirm();

  int64_t valid_ms() const {
    return held_ ? held_->valid_ms() : mortise_multi_valid_ms(multi_.get());
  }
  // CLOCK_BOOTTIME; 0 after a loss.
  int64_t valid_until_ns() const {
    return held_ ? held_->deadline_ns() : mortise_multi_deadline_ns(multi_.get());
  }
  // One token for each name, in the plan's order.
  std::vector<int64_t> tokens() const;

  // Waits until the locks of an incomplete acquire are being released.
  void close() { client_.reset(); }

  // The command goes on. Events report a loss.
  void note_progress();
  // Gives a hold of --hold back to its id. Throws a failure if the release is not certain.
  void unlock();
  // Releases the locks of the other names after a loss, as far as possible.
  void release_rest();
  // Extends the leases to this time from now, without further renewal. Throws a failure.
  void outlive(int64_t time_ms);

  // Takes the turn of this period. Returns false if the turn was taken before. Throws a failure.
  bool take_turn(int64_t now_ms, int64_t period_ms);
  // Keeps the turn until the period is over, without further renewal.
  void keep_turn(int64_t now_ms);
  // Gives the turn to the next run of this period.
  void release_turn();

 private:
  void add(const plan& request, const std::string& name);
  options_handle options_of(const plan& request) const;
  void check_longest_lease(const plan& request) const;
  bool may_last(int64_t time_ms) const;
  void check(mortise_status status) const;

  int64_t wait_ms_;
  std::string turn_name_;
  int64_t turn_ends_ms_ = 0;
  error_handle error_{mortise_error_new()};
  client_handle client_;
  queue_handle queue_;
  event_handle event_{mortise_event_new()};
  options_handle options_;
  lock_handle turn_;
  std::vector<lock_handle> mutexes_;
  std::vector<rw_handle> rws_;
  std::vector<semaphore_handle> semaphores_;
  multi_handle multi_;
  std::string hold_;
  std::optional<held_by_id> held_;  // with --hold
};

}  // namespace mortise::cli::exec
