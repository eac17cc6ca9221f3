#include "cli/named_lock.hpp"

#include <cstring>

#include "cli/failure.hpp"

namespace mortise::cli {

named_lock::named_lock(mortise_client* client, const std::string& name, mortise_error* error) {
  auto* const info = info_.get();
  // These handles acquire no lock, so any valid lease works.
  const options_handle terms(mortise_options_new());
  mortise_options_set_lease_ms(terms.get(), MORTISE_MIN_LEASE_MS, nullptr);
  mutex_.reset(mortise_lock_new(client, name.data(), name.size(), terms.get(), error));
  if (!mutex_) throw failure(error);
  auto status = mortise_lock_query(mutex_.get(), info, error);
  if (status == MORTISE_REFUSED) {
    rw_.reset(mortise_rw_new(client, name.data(), name.size(), terms.get(), error));
    if (!rw_) throw failure(error);
    status = mortise_rw_query(rw_.get(), info, error);
    kind_ = "rw";
  }
  if (status == MORTISE_REFUSED) {
    semaphore_.reset(
        mortise_semaphore_new(client, name.data(), name.size(), 1, terms.get(), error));
    if (!semaphore_) throw failure(error);
    status = mortise_semaphore_query(semaphore_.get(), info, error);
    kind_ = "semaphore";
  }
  if (status != MORTISE_OK) throw failure(error);
}

bool named_lock::force_release(int64_t entry, mortise_error* error) {
  const char* const owner = mortise_info_entry_owner(info_.get(), entry);
  const auto length = std::strlen(owner);
  mortise_status status = MORTISE_OK;
  if (semaphore_) {
    status = mortise_semaphore_force_release(semaphore_.get(), owner, length, error);
  } else if (rw_) {
    status = mortise_rw_force_release(rw_.get(), owner, length, error);
  } else {
    status = mortise_lock_force_release(mutex_.get(), owner, length, error);
  }
  if (status != MORTISE_OK && status != MORTISE_NOT_OWNER) throw failure(error);
  return status == MORTISE_OK;
}

}  // namespace mortise::cli
