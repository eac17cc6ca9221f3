// A hold of one lock of any kind, which outlives this process as an id.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "cli/handles.hpp"

namespace mortise::cli {

// A lock by its name and kind.
struct lock_terms {
  std::string name;
  std::string kind = "mutex";  // as mortise_hold_id_kind
  bool is_exclusive = true;    // of a read-write lock
  int64_t permits = 0;         // of a semaphore
};

class held_by_id {
 public:
  // Makes a handle of this lock. Throws a failure.
  held_by_id(mortise_client* client, const lock_terms& lock, const mortise_options* options,
             mortise_error* error);
  // Gives an adopted hold back to its id, unless it was released.
  ~held_by_id();
  held_by_id(const held_by_id&) = delete;
  held_by_id& operator=(const held_by_id&) = delete;

  // Acquires: -1 waits without limit. Returns false if the lock is taken. Throws a failure.
  bool acquire(int64_t wait_ms) const;
  // After an unsuccessful try: throws a failure if another kind of lock uses the name. A try only
  // detects that the name is in use.
  void check_kind() const;
  // Continues the hold of this id, which is of this lock. Throws a failure.
  void adopt(const std::string& id);
  // Ends the hold in this process and returns its id. 0 is the lease, or the rest of the time of an
  // adopted hold. Throws a failure.
  std::string give_out(int64_t lease_ms) const;

  // As the functions of the C ABI. The last two throw a failure.
  int64_t token() const;
  int64_t valid_ms() const;
  int64_t deadline_ns() const;
  void note_progress() const;
  void watch(mortise_queue* queue) const;
  void unlock() const;

 private:
  void check(mortise_status status) const;

  std::variant<lock_handle, rw_handle, semaphore_handle> handle_;
  mortise_error* error_;
  bool is_exclusive_;
  bool is_adopted_ = false;
};

// The options of the client, but a release ends when the server has confirmed it. Throws a failure.
options_handle options_with_confirmed_release(mortise_client* client, mortise_error* error);

// Reads the id. Throws a failure.
lock_terms lock_of(const std::string& id, mortise_error* error);

}  // namespace mortise::cli
