// mortise_multi.
#include "handle_calls.hpp"

using mortise::outcome;
using mortise::lock::amount;
using mortise::lock::exclusive_permits;
using mortise::lock::hold_mode;
using namespace mortise::capi;  // the ABI's own file

namespace {

template <class Handle>
mortise_status add(mortise_multi* multi, const Handle* member, const amount& requested,
                   mortise_error* error) noexcept {
  return call(multi, error, &multi_handle::add, argument::handle{member}, requested,
              Handle::argument_name);
}

}  // namespace

mortise_multi* mortise_multi_new(mortise_client* client, mortise_error* error) {
  return make<mortise_multi>(client, error, [](auto& self, mortise_multi& multi) -> outcome {
    if (self.is_closed()) return mortise::client_freed();
    multi.object = self.new_multi();
    return {};
  });
}

void mortise_multi_free(mortise_multi* multi) { free_handle(multi, &multi_handle::release); }

mortise_status mortise_multi_add_lock(mortise_multi* multi, mortise_lock* lock,
                                      mortise_error* error) {
  return add(multi, lock, {hold_mode::exclusive, 1}, error);
}

mortise_status mortise_multi_add_reader(mortise_multi* multi, mortise_rw* rw,
                                        mortise_error* error) {
  return add(multi, rw, {hold_mode::shared, 1}, error);
}

mortise_status mortise_multi_add_writer(mortise_multi* multi, mortise_rw* rw,
                                        mortise_error* error) {
  return add(multi, rw, {hold_mode::exclusive, exclusive_permits}, error);
}

mortise_status mortise_multi_add_semaphore(mortise_multi* multi, mortise_semaphore* semaphore,
                                           int64_t permits, mortise_error* error) {
  const auto checked = guard(error, [&] { return argument::permits{permits}.check(); });
  if (checked != MORTISE_OK) return checked;
  return add(multi, semaphore, {hold_mode::shared, permits}, error);
}

mortise_status mortise_multi_try(mortise_multi* multi, mortise_error* error) {
  return call(multi, error, &multi_handle::try_acquire);
}

mortise_status mortise_multi_acquire(mortise_multi* multi, int64_t timeout_ms,
                                     mortise_error* error) {
  return call(multi, error, &multi_handle::acquire, argument::timeout{timeout_ms});
}

mortise_status mortise_multi_unlock(mortise_multi* multi, mortise_error* error) {
  return call(multi, error, &multi_handle::unlock, any_hold);
}

mortise_status mortise_multi_extend(mortise_multi* multi, int64_t lease_ms, mortise_error* error) {
  return call(multi, error, &multi_handle::extend, argument::lease{lease_ms});
}

mortise_status mortise_multi_progress(mortise_multi* multi, mortise_error* error) {
  return call(multi, error, &multi_handle::note_progress);
}

mortise_status mortise_multi_cancel(mortise_multi* multi, mortise_error* error) {
  return call(multi, error, &multi_handle::cancel);
}

int32_t mortise_multi_is_held(const mortise_multi* multi) {
  return look(multi, &multi_handle::is_held);
}

int64_t mortise_multi_valid_ms(const mortise_multi* multi) {
  return look(multi, &multi_handle::valid_ms);
}

int64_t mortise_multi_member_count(const mortise_multi* multi) {
  return look(multi, &multi_handle::member_count);
}

mortise_status mortise_multi_try_async(mortise_multi* multi, mortise_queue* queue, int64_t tag,
                                       mortise_error* error) {
  return call(multi, error, &multi_handle::try_async, argument::handle{queue}, tag);
}

mortise_status mortise_multi_acquire_async(mortise_multi* multi, mortise_queue* queue, int64_t tag,
                                           int64_t timeout_ms, mortise_error* error) {
  return call(multi, error, &multi_handle::acquire_async, argument::handle{queue}, tag,
              argument::timeout{timeout_ms});
}

mortise_status mortise_multi_unlock_async(mortise_multi* multi, mortise_queue* queue, int64_t tag,
                                          mortise_error* error) {
  return call(multi, error, &multi_handle::unlock_async, argument::handle{queue}, tag, any_hold);
}

mortise_status mortise_multi_unlock_hold(mortise_multi* multi, int64_t hold_number,
                                         mortise_error* error) {
  return call(multi, error, &multi_handle::unlock, argument::hold_number{hold_number});
}

mortise_status mortise_multi_unlock_hold_async(mortise_multi* multi, mortise_queue* queue,
                                               int64_t tag, int64_t hold_number,
                                               mortise_error* error) {
  return call(multi, error, &multi_handle::unlock_async, argument::handle{queue}, tag,
              argument::hold_number{hold_number});
}

mortise_status mortise_multi_extend_async(mortise_multi* multi, mortise_queue* queue, int64_t tag,
                                          int64_t lease_ms, mortise_error* error) {
  return call(multi, error, &multi_handle::extend_async, argument::handle{queue}, tag,
              argument::lease{lease_ms});
}

mortise_status mortise_multi_interrupt(mortise_multi* multi, int32_t is_on, mortise_error* error) {
  return call(multi, error, &multi_handle::interrupt, argument::is_on{is_on});
}

mortise_status mortise_multi_set_task(mortise_multi* multi, int64_t task, mortise_error* error) {
  return call(multi, error, &multi_handle::set_task, argument::task{task});
}

mortise_status mortise_multi_watch(mortise_multi* multi, mortise_queue* queue, int64_t tag,
                                   mortise_error* error) {
  return call(multi, error, &multi_handle::watch, argument::handle_or_none{queue}, tag);
}

int64_t mortise_multi_deadline_ns(const mortise_multi* multi) {
  return look(multi, &multi_handle::deadline_ns);
}

int64_t mortise_multi_hold_number(const mortise_multi* multi) {
  return look(multi, &multi_handle::hold_number);
}
