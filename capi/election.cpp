// mortise_election.
#include "handle_calls.hpp"

using mortise::lock::amount;
using mortise::lock::hold_mode;
using namespace mortise::capi;  // the ABI's own file

namespace {

constexpr amount candidate{hold_mode::exclusive, 1};

}  // namespace

mortise_election* mortise_election_new(mortise_client* client, const char* name, size_t name_len,
                                       const mortise_options* options, mortise_error* error) {
  return make_lock<mortise_election>(client, name, name_len, 1, options, error);
}

void mortise_election_free(mortise_election* election) {
  free_handle(election, &election_handle::release);
}

mortise_status mortise_election_campaign(mortise_election* election, int64_t timeout_ms,
                                         mortise_error* error) {
  return call(election, error, &lock_handle::acquire, candidate, argument::timeout{timeout_ms});
}

mortise_status mortise_election_campaign_async(mortise_election* election, mortise_queue* queue,
                                               int64_t tag, int64_t timeout_ms,
                                               mortise_error* error) {
  return call(election, error, &lock_handle::acquire_async, argument::handle{queue}, tag, candidate,
              argument::timeout{timeout_ms});
}

mortise_status mortise_election_resign(mortise_election* election, mortise_error* error) {
  return call(election, error, &election_handle::resign, any_hold);
}

mortise_status mortise_election_resign_async(mortise_election* election, mortise_queue* queue,
                                             int64_t tag, mortise_error* error) {
  return call(election, error, &election_handle::resign_async, argument::handle{queue}, tag,
              any_hold);
}

mortise_status mortise_election_resign_hold(mortise_election* election, int64_t hold_number,
                                            mortise_error* error) {
  return call(election, error, &election_handle::resign, argument::hold_number{hold_number});
}

mortise_status mortise_election_resign_hold_async(mortise_election* election, mortise_queue* queue,
                                                  int64_t tag, int64_t hold_number,
                                                  mortise_error* error) {
  return call(election, error, &election_handle::resign_async, argument::handle{queue}, tag,
              argument::hold_number{hold_number});
}

mortise_status mortise_election_extend(mortise_election* election, int64_t lease_ms,
                                       mortise_error* error) {
  return call(election, error, &lock_handle::extend, argument::lease{lease_ms});
}

mortise_status mortise_election_extend_async(mortise_election* election, mortise_queue* queue,
                                             int64_t tag, int64_t lease_ms, mortise_error* error) {
  return call(election, error, &lock_handle::extend_async, argument::handle{queue}, tag,
              argument::lease{lease_ms});
}

mortise_status mortise_election_progress(mortise_election* election, mortise_error* error) {
  return call(election, error, &lock_handle::note_progress, any_hold);
}

mortise_status mortise_election_set_value(mortise_election* election, const char* value,
                                          size_t value_len, mortise_error* error) {
  return call(election, error, &lock_handle::set_value, argument::hold_value{value, value_len});
}

mortise_status mortise_election_set_value_async(mortise_election* election, mortise_queue* queue,
                                                int64_t tag, const char* value, size_t value_len,
                                                mortise_error* error) {
  return call(election, error, &lock_handle::set_value_async, argument::handle{queue}, tag,
              argument::hold_value{value, value_len});
}

mortise_status mortise_election_cancel(mortise_election* election, mortise_error* error) {
  return call(election, error, &lock_handle::cancel);
}

mortise_status mortise_election_interrupt(mortise_election* election, int32_t is_on,
                                          mortise_error* error) {
  return call(election, error, &lock_handle::interrupt, argument::is_on{is_on});
}

mortise_status mortise_election_set_task(mortise_election* election, int64_t task,
                                         mortise_error* error) {
  return call(election, error, &lock_handle::set_task, argument::task{task});
}

const char* mortise_election_name(const mortise_election* election, size_t* name_len) {
  return name_of(election, name_len);
}

int32_t mortise_election_is_leader(const mortise_election* election) {
  return look(election, &lock_handle::is_held);
}

int64_t mortise_election_valid_ms(const mortise_election* election) {
  return look(election, &lock_handle::valid_ms);
}

int64_t mortise_election_deadline_ns(const mortise_election* election) {
  return look(election, &lock_handle::deadline_ns);
}

int64_t mortise_election_token(const mortise_election* election) {
  return look(election, &lock_handle::token);
}

int64_t mortise_election_hold_number(const mortise_election* election) {
  return look(election, &lock_handle::hold_number);
}

mortise_status mortise_election_query(mortise_election* election, mortise_info* info,
                                      mortise_error* error) {
  return call(election, error, &lock_handle::query, argument::result{info});
}

mortise_status mortise_election_force_release(mortise_election* election, const char* owner,
                                              size_t owner_len, mortise_error* error) {
  return call(election, error, &lock_handle::force_release, argument::owner{owner, owner_len});
}

mortise_status mortise_election_watch(mortise_election* election, mortise_queue* queue, int64_t tag,
                                      mortise_error* error) {
  return call(election, error, &lock_handle::watch, argument::handle_or_none{queue}, tag);
}

mortise_status mortise_election_observe(mortise_election* election, mortise_queue* queue,
                                        int64_t tag, int64_t interval_ms, mortise_error* error) {
  return call(election, error, &election_handle::observe, argument::handle_or_none{queue}, tag,
              argument::interval_of_observation{interval_ms, queue != nullptr});
}
