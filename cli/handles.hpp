// RAII owners of the C ABI's handles.
#pragma once

#include <mortise/mortise.h>

#include <memory>

namespace mortise::cli {

template <auto free_handle>
struct handle_deleter {
  template <typename handle>
  void operator()(handle* one) const noexcept {
    free_handle(one);
  }
};

using client_handle = std::unique_ptr<mortise_client, handle_deleter<mortise_client_free>>;
using options_handle = std::unique_ptr<mortise_options, handle_deleter<mortise_options_free>>;
using error_handle = std::unique_ptr<mortise_error, handle_deleter<mortise_error_free>>;
using queue_handle = std::unique_ptr<mortise_queue, handle_deleter<mortise_queue_free>>;
using event_handle = std::unique_ptr<mortise_event, handle_deleter<mortise_event_free>>;
using lock_handle = std::unique_ptr<mortise_lock, handle_deleter<mortise_lock_free>>;
using rw_handle = std::unique_ptr<mortise_rw, handle_deleter<mortise_rw_free>>;
using semaphore_handle = std::unique_ptr<mortise_semaphore, handle_deleter<mortise_semaphore_free>>;
using info_handle = std::unique_ptr<mortise_info, handle_deleter<mortise_info_free>>;
using listing_handle = std::unique_ptr<mortise_listing, handle_deleter<mortise_listing_free>>;
using health_handle = std::unique_ptr<mortise_health, handle_deleter<mortise_health_free>>;
using multi_handle = std::unique_ptr<mortise_multi, handle_deleter<mortise_multi_free>>;

}  // namespace mortise::cli
