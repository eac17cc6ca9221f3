#include "cli/named_lock.hpp"

#include <cstring>
#include <optional>

#include "cli/failure.hpp"

namespace mortise::cli {

// A format of other programs is not one of each kind of lock.
named_lock::named_lock(mortise_client* client, const std::string& name, mortise_error* error) {
  const options_handle terms(mortise_options_new_from(client, error));
  if (!terms) throw failure(error);
  // These handles acquire no lock, so any valid lease works.
  mortise_options_set_lease_ms(terms.get(), MORTISE_MIN_LEASE_MS, nullptr);
  std::optional<failure> other;
  const auto is_of_kind = [&](const char* kind, mortise_status status) {
    kind_ = kind;
    if (status == MORTISE_OK) return true;
    const failure problem(error);
    if (status != MORTISE_REFUSED && status != MORTISE_UNSUPPORTED) throw problem;
    // A refusal is of the server, which knows of a lock.
    if (!other || status == MORTISE_REFUSED) other = problem;
    return false;
  };
  if (is_of_kind("mutex", query_mutex(client, name, terms.get(), error))) return;
  if (is_of_kind("rw", query_rw(client, name, terms.get(), error))) return;
  if (is_of_kind("semaphore", query_semaphore(client, name, terms.get(), error))) return;
  throw *other;
}

mortise_status named_lock::query_mutex(mortise_client* client, const std::string& name,
                                       const mortise_options* terms, mortise_error* error) {
  mutex_.reset(mortise_lock_new(client, name.data(), name.size(), terms, error));
  return mutex_ ? mortise_lock_query(mutex_.get(), info_.get(), error)
                : mortise_error_status(error);
}

mortise_status named_lock::query_rw(mortise_client* client, const std::string& name,
                                    const mortise_options* terms, mortise_error* error) {
  rw_.reset(mortise_rw_new(client, name.data(), name.size(), terms, error));
  return rw_ ? mortise_rw_query(rw_.get(), info_.get(), error) : mortise_error_status(error);
}

mortise_status named_lock::query_semaphore(mortise_client* client, const std::string& name,
                                           const mortise_options* terms, mortise_error* error) {
  semaphore_.reset(mortise_semaphore_new(client, name.data(), name.size(), 1, terms, error));
  return semaphore_ ? mortise_semaphore_query(semaphore_.get(), info_.get(), error)
                    : mortise_error_status(error);
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
