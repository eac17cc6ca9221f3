// mortise_multi.
#include "handle_calls.hpp"
#include "lock/owner.hpp"

using mortise::outcome;
using mortise::client::multi_handle;
using mortise::lock::hold_mode;
using mortise::lock::portion;
using namespace mortise::capi;  // NOLINT(google-build-using-namespace): the ABI's own file

namespace {

static_assert(multi_handle::most_members == MORTISE_MAX_MEMBERS);

template <class Handle>
mortise_status add(mortise_multi* multi, Handle* member, const portion& wanted, const char* name,
                   mortise_error* error) noexcept {
  return with(multi, "multi", error, [&](multi_handle& object) -> outcome {
    if (auto checked = usable(member, name); !checked.ok()) return checked;
    return object.add(member->object, wanted, name);
  });
}

template <class Body>
mortise_status with_events(mortise_multi* multi, mortise_queue* queue, mortise_error* error,
                           Body&& body) noexcept {
  return with(multi, "multi", error, [&](multi_handle& object) -> outcome {
    if (auto checked = usable(queue, "queue"); !checked.ok()) return checked;
    return body(object, queue->object);
  });
}

}  // namespace

mortise_multi* mortise_multi_new(mortise_client* client, mortise_error* error) {
  auto made = std::unique_ptr<mortise_multi>();
  const auto how = with(client, "client", error, [&](mortise::client::client& self) -> outcome {
    if (self.is_closed()) return mortise::client_freed();
    made = std::make_unique<mortise_multi>();
    made->object = self.new_multi();
    return {};
  });
  return how == MORTISE_OK ? made.release() : nullptr;
}

void mortise_multi_free(mortise_multi* multi) { free_handle(multi); }

mortise_status mortise_multi_add_lock(mortise_multi* multi, mortise_lock* lock,
                                      mortise_error* error) {
  return add(multi, lock, {hold_mode::whole, 1}, "lock", error);
}

mortise_status mortise_multi_add_reader(mortise_multi* multi, mortise_rw* rw,
                                        mortise_error* error) {
  return add(multi, rw, {hold_mode::part, 1}, "rw", error);
}

mortise_status mortise_multi_add_writer(mortise_multi* multi, mortise_rw* rw,
                                        mortise_error* error) {
  return add(multi, rw, {hold_mode::whole, mortise::lock::whole_weight}, "rw", error);
}

mortise_status mortise_multi_add_semaphore(mortise_multi* multi, mortise_semaphore* semaphore,
                                           int64_t weight, mortise_error* error) {
  const auto checked = guard(error, [&] { return check_weight(weight); });
  if (checked != MORTISE_OK) return checked;
  return add(multi, semaphore, {hold_mode::part, weight}, "semaphore", error);
}

mortise_status mortise_multi_try(mortise_multi* multi, mortise_error* error) {
  return with(multi, "multi", error, [](multi_handle& object) { return object.try_acquire(); });
}

mortise_status mortise_multi_acquire(mortise_multi* multi, int64_t timeout_ms,
                                     mortise_error* error) {
  return with(multi, "multi", error, [&](multi_handle& object) {
    const auto checked = check_timeout(timeout_ms);
    return checked.ok() ? object.acquire(timeout_ms) : checked;
  });
}

mortise_status mortise_multi_unlock(mortise_multi* multi, mortise_error* error) {
  return with(multi, "multi", error, [](multi_handle& object) { return object.unlock(); });
}

mortise_status mortise_multi_extend(mortise_multi* multi, int64_t lease_ms, mortise_error* error) {
  return with(multi, "multi", error, [&](multi_handle& object) {
    const auto checked = check_extension(lease_ms);
    return checked.ok() ? object.extend(lease_ms) : checked;
  });
}

mortise_status mortise_multi_cancel(mortise_multi* multi, mortise_error* error) {
  return with(multi, "multi", error, [](multi_handle& object) { return object.cancel(); });
}

int32_t mortise_multi_is_held(const mortise_multi* multi) {
  return look<int32_t>(multi, [](const multi_handle& object) { return object.is_held() ? 1 : 0; });
}

int64_t mortise_multi_valid_ms(const mortise_multi* multi) {
  return look<int64_t>(multi, [](const multi_handle& object) { return object.valid_ms(); });
}

int64_t mortise_multi_member_count(const mortise_multi* multi) {
  return look<int64_t>(multi, [](const multi_handle& object) { return object.member_count(); });
}

mortise_status mortise_multi_try_async(mortise_multi* multi, mortise_queue* queue, int64_t tag,
                                       mortise_error* error) {
  return with_events(multi, queue, error, [&](multi_handle& object, const auto& events) {
    return object.try_async(events, tag);
  });
}

mortise_status mortise_multi_acquire_async(mortise_multi* multi, mortise_queue* queue, int64_t tag,
                                           int64_t timeout_ms, mortise_error* error) {
  return with_events(multi, queue, error, [&](multi_handle& object, const auto& events) {
    const auto checked = check_timeout(timeout_ms);
    return checked.ok() ? object.acquire_async(events, tag, timeout_ms) : checked;
  });
}

mortise_status mortise_multi_unlock_async(mortise_multi* multi, mortise_queue* queue, int64_t tag,
                                          mortise_error* error) {
  return with_events(multi, queue, error, [&](multi_handle& object, const auto& events) {
    return object.unlock_async(events, tag);
  });
}

mortise_status mortise_multi_extend_async(mortise_multi* multi, mortise_queue* queue, int64_t tag,
                                          int64_t lease_ms, mortise_error* error) {
  return with_events(multi, queue, error, [&](multi_handle& object, const auto& events) {
    const auto checked = check_extension(lease_ms);
    return checked.ok() ? object.extend_async(events, tag, lease_ms) : checked;
  });
}

mortise_status mortise_multi_interrupt(mortise_multi* multi, int32_t is_on, mortise_error* error) {
  return interrupt(multi, "multi", is_on, error);
}

mortise_status mortise_multi_watch(mortise_multi* multi, mortise_queue* queue, int64_t tag,
                                   mortise_error* error) {
  if (queue != nullptr) {
    return with_events(multi, queue, error, [&](multi_handle& object, const auto& events) {
      return object.watch(events, tag);
    });
  }
  return with(multi, "multi", error, [&](multi_handle& object) { return object.watch({}, tag); });
}

int64_t mortise_multi_deadline_ns(const mortise_multi* multi) {
  return look<int64_t>(multi, [](const multi_handle& object) { return object.deadline_ns(); });
}
