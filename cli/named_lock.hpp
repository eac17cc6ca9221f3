// A lock known only by its name. The server reports its kind.
#pragma once

#include <string>

#include "cli/handles.hpp"

namespace mortise::cli {

class named_lock {
 public:
  // Queries the holders and waiters. Throws a failure.
  named_lock(mortise_client* client, const std::string& name, mortise_error* error);

  // The kind as in --json; a mutex when the lock has no holder or waiter.
  const char* kind() const { return kind_; }
  const mortise_info* info() const { return info_.get(); }

  // Ends the hold of this entry. Returns false if the hold was already over. Throws a failure.
  bool force_release(int64_t entry, mortise_error* error);

 private:
  mortise_status query_mutex(mortise_client* client, const std::string& name,
                             const mortise_options* terms, mortise_error* error);
  mortise_status query_rw(mortise_client* client, const std::string& name,
                          const mortise_options* terms, mortise_error* error);
  mortise_status query_semaphore(mortise_client* client, const std::string& name,
                                 const mortise_options* terms, mortise_error* error);

  info_handle info_{mortise_info_new()};
  lock_handle mutex_;
  rw_handle rw_;
  semaphore_handle semaphore_;
  const char* kind_ = "mutex";
};

}  // namespace mortise::cli
