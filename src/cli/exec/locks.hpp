// The locks of one `mortise exec`, all or none, through the C ABI.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/exec/plan.hpp"
#include "cli/failure.hpp"
#include "cli/handles.hpp"

namespace mortise::cli::exec {

// What has become of them.
struct news {
  mortise_kind what;
  mortise_status status;
  std::string text;
  std::string server_text;
};

class locks {
 public:
  // Connects. Throws a failure.
  explicit locks(const plan& wanted);

  // Readable while there may be news.
  int descriptor() const { return mortise_queue_fd(queue_.get()); }
  std::optional<news> next();

  // Waits as long as the plan says; news of MORTISE_EVENT_ACQUIRED follow. Throws a failure.
  void start_acquire();
  // After a try that did not acquire: throws a failure if a name is no lock of this kind, because a
  // try sees only that the name is in use.
  void check_kinds() const;
  void cancel() { mortise_multi_cancel(multi_.get(), nullptr); }
  // Right after a wait a hold is only as good as the server's message: this asks it. Throws.
  void confirm();

  int64_t valid_ms() const { return mortise_multi_valid_ms(multi_.get()); }
  // CLOCK_BOOTTIME; 0 once they are lost.
  int64_t valid_until_ns() const { return mortise_multi_deadline_ns(multi_.get()); }
  // One for each name, in the plan's order.
  std::vector<int64_t> tokens() const;

  // Waits until what several names have acquired in vain is on its way back.
  void close() { client_.reset(); }

  // Throws a failure if that is not certain.
  void unlock();
  // Keeps them for so long from now, without us. Throws a failure.
  void outlive(int64_t time_ms);

  // Whether nobody has done it in this period; from then on it has been. Throws a failure.
  bool take_turn(int64_t now_ms, int64_t period_ms);
  // Keeps it, without us, until the period is over.
  void keep_turn(int64_t now_ms);

 private:
  void add(const plan& wanted, const std::string& name);
  options_handle options_of(const plan& wanted) const;
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
};

}  // namespace mortise::cli::exec
