// The contents of the opaque handles: a shared object, the process that made it, and per type the
// argument name of the handle.
#pragma once

#include <memory>

#include "base/options.hpp"
#include "base/system/fork.hpp"
#include "client/client.hpp"
#include "client/events/event_queue.hpp"
#include "client/handles/election_handle.hpp"
#include "client/handles/lock_handle.hpp"
#include "client/handles/multi_handle.hpp"
#include "guard.hpp"
#include "protocol/exported_hold.hpp"
#include "protocol/health/health.hpp"
#include "protocol/listing/listing.hpp"
#include "protocol/listing/query.hpp"
#include "statistics/snapshot.hpp"

namespace mortise::capi {

// A handle with threads and sockets. In a forked child it is inert: it returns `forked` and is
// never destroyed, because its mutexes may be held by threads that the child does not have (hazard
// 21).
template <class Object>
struct process_handle {
  std::shared_ptr<Object> object;
  std::uint64_t process = process_mark();
  [[nodiscard]] bool is_foreign() const noexcept { return process != process_mark(); }
};

// ok if the handle is usable.
template <class Handle>
outcome usable(const Handle* handle) {
  if (handle == nullptr) return is_null(Handle::argument_name);
  if (handle->is_foreign()) {
    return outcome::of(status::forked, "this ", Handle::argument_name,
                       " was created before fork(); create a new client in this process");
  }
  return {};
}

}  // namespace mortise::capi

struct mortise_client : mortise::capi::process_handle<mortise::client::client> {
  static constexpr const char* argument_name = "client";
};

struct mortise_lock : mortise::capi::process_handle<mortise::client::lock_handle> {
  static constexpr const char* argument_name = "lock";
  static constexpr auto kind = mortise::lock::lock_kind::mutex;
};

struct mortise_rw : mortise::capi::process_handle<mortise::client::lock_handle> {
  static constexpr const char* argument_name = "rw";
  static constexpr auto kind = mortise::lock::lock_kind::rw;
};

struct mortise_semaphore : mortise::capi::process_handle<mortise::client::lock_handle> {
  static constexpr const char* argument_name = "semaphore";
  static constexpr auto kind = mortise::lock::lock_kind::semaphore;
};

struct mortise_election : mortise::capi::process_handle<mortise::client::election_handle> {
  static constexpr const char* argument_name = "election";
  static constexpr auto kind = mortise::lock::lock_kind::mutex;
};

struct mortise_multi : mortise::capi::process_handle<mortise::client::multi_handle> {
  static constexpr const char* argument_name = "multi";
};

struct mortise_queue : mortise::capi::process_handle<mortise::client::event_queue> {
  static constexpr const char* argument_name = "queue";
};

// ---- plain data ----------------------------------------------------------------------------

struct mortise_options {
  mortise::settings values;
};

struct mortise_event {
  static constexpr const char* argument_name = "event";
  mortise::client::event content;
};

struct mortise_health {
  mortise::protocol::health content;
  std::string json;
};

struct mortise_stats {
  std::vector<mortise::statistics::sample> samples;
  std::string json;
  std::string prometheus;
};

struct mortise_listing {
  mortise::protocol::listing content;
  std::string json;
};

struct mortise_hold_id {
  std::string text;
  mortise::protocol::exported_hold content;
};

struct mortise_info {
  static constexpr const char* argument_name = "info";
  mortise::protocol::lock_info content;
};
