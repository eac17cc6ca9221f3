// A lock of which only the name is known: what it is, the server says.
#pragma once

#include <string>

#include "cli/handles.hpp"

namespace mortise::cli {

class named_lock {
 public:
  // Asks who holds it and who waits. Throws a failure.
  named_lock(mortise_client* client, const std::string& name, mortise_error* error);

  // As --json says it; a mutex where nobody holds or waits.
  const char* kind() const { return kind_; }
  const mortise_info* info() const { return info_.get(); }

  // Ends the hold of this entry of the info. False if it was over by itself. Throws a failure.
  bool force_release(int64_t entry, mortise_error* error);

 private:
  info_handle info_{mortise_info_new()};
  lock_handle mutex_;
  rw_handle rw_;
  semaphore_handle semaphore_;
  const char* kind_ = "mutex";
};

}  // namespace mortise::cli
