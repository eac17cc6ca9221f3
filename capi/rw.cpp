// mortise_rw.
#include "handle_calls.hpp"

using mortise::lock::amount;
using mortise::lock::exclusive_permits;
using mortise::lock::hold_mode;
using namespace mortise::capi;  // the ABI's own file

namespace {

constexpr amount reader{hold_mode::shared, 1};
constexpr amount writer{hold_mode::exclusive, exclusive_permits};

}  // namespace

mortise_rw* mortise_rw_new(mortise_client* client, const char* name, size_t name_len,
                           const mortise_options* options, mortise_error* error) {
  return make_lock<mortise_rw>(client, name, name_len, exclusive_permits, options, error);
}

void mortise_rw_free(mortise_rw* rw) { free_handle(rw, &lock_handle::release); }

mortise_status mortise_rw_read_try(mortise_rw* rw, mortise_error* error) {
  return call(rw, error, &lock_handle::try_acquire, reader);
}

mortise_status mortise_rw_read_acquire(mortise_rw* rw, int64_t timeout_ms, mortise_error* error) {
  return call(rw, error, &lock_handle::acquire, reader, argument::timeout{timeout_ms});
}

mortise_status mortise_rw_read_unlock(mortise_rw* rw, mortise_error* error) {
  return call(rw, error, &lock_handle::unlock, hold_mode::shared, any_hold);
}

mortise_status mortise_rw_read_try_async(mortise_rw* rw, mortise_queue* queue, int64_t tag,
                                         mortise_error* error) {
  return call(rw, error, &lock_handle::try_async, argument::handle{queue}, tag, reader);
}

mortise_status mortise_rw_read_acquire_async(mortise_rw* rw, mortise_queue* queue, int64_t tag,
                                             int64_t timeout_ms, mortise_error* error) {
  return call(rw, error, &lock_handle::acquire_async, argument::handle{queue}, tag, reader,
              argument::timeout{timeout_ms});
}

mortise_status mortise_rw_read_unlock_async(mortise_rw* rw, mortise_queue* queue, int64_t tag,
                                            mortise_error* error) {
  return call(rw, error, &lock_handle::unlock_async, argument::handle{queue}, tag,
              hold_mode::shared, any_hold);
}

mortise_status mortise_rw_read_unlock_hold(mortise_rw* rw, int64_t hold_number,
                                           mortise_error* error) {
  return call(rw, error, &lock_handle::unlock, hold_mode::shared,
              argument::hold_number{hold_number});
}

mortise_status mortise_rw_read_unlock_hold_async(mortise_rw* rw, mortise_queue* queue, int64_t tag,
                                                 int64_t hold_number, mortise_error* error) {
  return call(rw, error, &lock_handle::unlock_async, argument::handle{queue}, tag,
              hold_mode::shared, argument::hold_number{hold_number});
}

mortise_status mortise_rw_write_try(mortise_rw* rw, mortise_error* error) {
  return call(rw, error, &lock_handle::try_acquire, writer);
}

mortise_status mortise_rw_write_acquire(mortise_rw* rw, int64_t timeout_ms, mortise_error* error) {
  return call(rw, error, &lock_handle::acquire, writer, argument::timeout{timeout_ms});
}

mortise_status mortise_rw_write_unlock(mortise_rw* rw, mortise_error* error) {
  return call(rw, error, &lock_handle::unlock, hold_mode::exclusive, any_hold);
}

mortise_status mortise_rw_write_try_async(mortise_rw* rw, mortise_queue* queue, int64_t tag,
                                          mortise_error* error) {
  return call(rw, error, &lock_handle::try_async, argument::handle{queue}, tag, writer);
}

mortise_status mortise_rw_write_acquire_async(mortise_rw* rw, mortise_queue* queue, int64_t tag,
                                              int64_t timeout_ms, mortise_error* error) {
  return call(rw, error, &lock_handle::acquire_async, argument::handle{queue}, tag, writer,
              argument::timeout{timeout_ms});
}

mortise_status mortise_rw_write_unlock_async(mortise_rw* rw, mortise_queue* queue, int64_t tag,
                                             mortise_error* error) {
  return call(rw, error, &lock_handle::unlock_async, argument::handle{queue}, tag,
              hold_mode::exclusive, any_hold);
}

mortise_status mortise_rw_write_unlock_hold(mortise_rw* rw, int64_t hold_number,
                                            mortise_error* error) {
  return call(rw, error, &lock_handle::unlock, hold_mode::exclusive,
              argument::hold_number{hold_number});
}

mortise_status mortise_rw_write_unlock_hold_async(mortise_rw* rw, mortise_queue* queue, int64_t tag,
                                                  int64_t hold_number, mortise_error* error) {
  return call(rw, error, &lock_handle::unlock_async, argument::handle{queue}, tag,
              hold_mode::exclusive, argument::hold_number{hold_number});
}

mortise_status mortise_rw_upgrade(mortise_rw* rw, mortise_error* error) {
  return call(rw, error, &lock_handle::upgrade);
}

mortise_status mortise_rw_downgrade(mortise_rw* rw, mortise_error* error) {
  return call(rw, error, &lock_handle::downgrade);
}

mortise_status mortise_rw_upgrade_async(mortise_rw* rw, mortise_queue* queue, int64_t tag,
                                        mortise_error* error) {
  return call(rw, error, &lock_handle::upgrade_async, argument::handle{queue}, tag);
}

mortise_status mortise_rw_downgrade_async(mortise_rw* rw, mortise_queue* queue, int64_t tag,
                                          mortise_error* error) {
  return call(rw, error, &lock_handle::downgrade_async, argument::handle{queue}, tag);
}

int32_t mortise_rw_is_reading(const mortise_rw* rw) {
  return look(rw, &lock_handle::has_hold, hold_mode::shared);
}

int32_t mortise_rw_is_writing(const mortise_rw* rw) {
  return look(rw, &lock_handle::has_hold, hold_mode::exclusive);
}

mortise_status mortise_rw_extend(mortise_rw* rw, int64_t lease_ms, mortise_error* error) {
  return call(rw, error, &lock_handle::extend, argument::lease{lease_ms});
}

mortise_status mortise_rw_progress(mortise_rw* rw, mortise_error* error) {
  return call(rw, error, &lock_handle::note_progress, any_hold);
}

mortise_hold_id* mortise_rw_export(mortise_rw* rw, int64_t lease_ms, mortise_error* error) {
  return export_hold(rw, lease_ms, error);
}

mortise_status mortise_rw_adopt(mortise_rw* rw, const char* id, size_t id_len,
                                mortise_error* error) {
  return call(rw, error, &lock_handle::adopt, argument::id{id, id_len});
}

mortise_status mortise_rw_cancel(mortise_rw* rw, mortise_error* error) {
  return call(rw, error, &lock_handle::cancel);
}

int64_t mortise_rw_valid_ms(const mortise_rw* rw) { return look(rw, &lock_handle::valid_ms); }

int64_t mortise_rw_token(const mortise_rw* rw) { return look(rw, &lock_handle::token); }

mortise_status mortise_rw_query(mortise_rw* rw, mortise_info* info, mortise_error* error) {
  return call(rw, error, &lock_handle::query, argument::result{info});
}

mortise_status mortise_rw_force_release(mortise_rw* rw, const char* owner, size_t owner_len,
                                        mortise_error* error) {
  return call(rw, error, &lock_handle::force_release, argument::owner{owner, owner_len});
}

mortise_status mortise_rw_extend_async(mortise_rw* rw, mortise_queue* queue, int64_t tag,
                                       int64_t lease_ms, mortise_error* error) {
  return call(rw, error, &lock_handle::extend_async, argument::handle{queue}, tag,
              argument::lease{lease_ms});
}

mortise_status mortise_rw_watch(mortise_rw* rw, mortise_queue* queue, int64_t tag,
                                mortise_error* error) {
  return call(rw, error, &lock_handle::watch, argument::handle_or_none{queue}, tag);
}

mortise_status mortise_rw_interrupt(mortise_rw* rw, int32_t is_on, mortise_error* error) {
  return call(rw, error, &lock_handle::interrupt, argument::is_on{is_on});
}

mortise_status mortise_rw_set_task(mortise_rw* rw, int64_t task, mortise_error* error) {
  return call(rw, error, &lock_handle::set_task, argument::task{task});
}

const char* mortise_rw_name(const mortise_rw* rw, size_t* name_len) {
  return name_of(rw, name_len);
}

int64_t mortise_rw_deadline_ns(const mortise_rw* rw) { return look(rw, &lock_handle::deadline_ns); }

int64_t mortise_rw_hold_number(const mortise_rw* rw) { return look(rw, &lock_handle::hold_number); }

mortise_status mortise_rw_set_value(mortise_rw* rw, const char* value, size_t value_len,
                                    mortise_error* error) {
  return call(rw, error, &lock_handle::set_value, argument::hold_value{value, value_len});
}

mortise_status mortise_rw_set_value_async(mortise_rw* rw, mortise_queue* queue, int64_t tag,
                                          const char* value, size_t value_len,
                                          mortise_error* error) {
  return call(rw, error, &lock_handle::set_value_async, argument::handle{queue}, tag,
              argument::hold_value{value, value_len});
}
