// The subject of the measurements: the library through its public header, with owning pointers and
// failures as exceptions. The measured loops call the C functions themselves.
#pragma once

#include <mortise/mortise.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mortise::bench {

template <auto free_function>
struct freed_by {
  template <typename T>
  void operator()(T* object) const {
    free_function(object);
  }
};

using client_ptr = std::unique_ptr<mortise_client, freed_by<mortise_client_free>>;
using lock_ptr = std::unique_ptr<mortise_lock, freed_by<mortise_lock_free>>;
using rw_ptr = std::unique_ptr<mortise_rw, freed_by<mortise_rw_free>>;
using queue_ptr = std::unique_ptr<mortise_queue, freed_by<mortise_queue_free>>;
using event_ptr = std::unique_ptr<mortise_event, freed_by<mortise_event_free>>;
using options_ptr = std::unique_ptr<mortise_options, freed_by<mortise_options_free>>;
using info_ptr = std::unique_ptr<mortise_info, freed_by<mortise_info_free>>;

// Throws with the status's name and what was tried, unless it is MORTISE_OK.
void check(mortise_status status, const char* tried);

// Settings as "key=value key=value"; all defaults when empty.
options_ptr make_options(const std::string& text);
client_ptr open_client(const std::string& url, const std::string& options = {});
lock_ptr make_lock(mortise_client* client, const std::string& name,
                   const std::string& options = {});
rw_ptr make_rw(mortise_client* client, const std::string& name, const std::string& options = {});
queue_ptr make_queue(mortise_client* client, std::int64_t capacity);
// One handle for each of `count` different names.
std::vector<lock_ptr> make_locks(mortise_client* client, const std::string& purpose, int count,
                                 const std::string& options = {});

// One uncontended acquire and release.
inline void pair(mortise_lock* lock) {
  const auto acquired = mortise_lock_try(lock, nullptr);
  if (acquired != MORTISE_OK) check(acquired, "mortise_lock_try");
  const auto released = mortise_lock_unlock(lock, nullptr);
  if (released != MORTISE_OK) check(released, "mortise_lock_unlock");
}

inline void read_pair(mortise_rw* rw) {
  const auto acquired = mortise_rw_read_try(rw, nullptr);
  if (acquired != MORTISE_OK) check(acquired, "mortise_rw_read_try");
  const auto released = mortise_rw_read_unlock(rw, nullptr);
  if (released != MORTISE_OK) check(released, "mortise_rw_read_unlock");
}

}  // namespace mortise::bench
