/**
 * Every function of mortise.h as a pointer, for users of dlopen:
 *
 *     void *library = dlopen("libmortise.so.1", RTLD_NOW | RTLD_LOCAL);
 *     const mortise_api *(*get)(int32_t) =
 *         (const mortise_api *(*)(int32_t))dlsym(library, "mortise_get_api");
 *
 *     const mortise_api *mortise = get(MORTISE_ABI_MAJOR);
 *     puts(mortise->version_text());
 *
 * The table only grows at its end. A library that is older than this header has fewer entries. Use
 * MORTISE_API_HAS before an entry that is newer than the oldest library that you support.
 *
 * Generated from mortise.h by capi/generate. Do not edit.
 */
#ifndef MORTISE_API_H
#define MORTISE_API_H

#include <mortise/mortise.h>

/** Whether a table with this `size` has the entry. */
#define MORTISE_API_HAS(api, entry) \
  ((api)->size >= offsetof(struct mortise_api, entry) + sizeof((api)->entry))

/** The table that `mortise_get_api` returns. */
struct mortise_api {
  /** The number of bytes of this struct that the loaded library fills. */
  size_t size;

  /* since 1.0 */
  int32_t (*version)(void);
  const char *(*version_text)(void);
  mortise_status (*check_abi)(int32_t major, int32_t minor);
  const mortise_api *(*get_api)(int32_t abi_major);
  const char *(*status_text)(mortise_status status);
  mortise_error *(*error_new)(void);
  void (*error_free)(mortise_error *error);
  mortise_status (*error_status)(const mortise_error *error);
  const char *(*error_message)(const mortise_error *error);
  const char *(*error_server_text)(const mortise_error *error);
  int32_t (*error_is_retryable)(const mortise_error *error);
  int32_t (*error_is_ambiguous)(const mortise_error *error);
  mortise_options *(*options_new)(void);
  void (*options_free)(mortise_options *options);
  mortise_status (*options_set)(mortise_options *options, const char *key, size_t key_len,
                                const char *value, size_t value_len, mortise_error *error);
  mortise_status (*options_set_lease_ms)(mortise_options *options, int64_t lease_ms,
                                         mortise_error *error);
  mortise_status (*options_set_renewal)(mortise_options *options, int32_t is_on,
                                        mortise_error *error);
  mortise_status (*options_set_max_hold_ms)(mortise_options *options, int64_t max_hold_ms,
                                            mortise_error *error);
  mortise_status (*options_set_reentrant)(mortise_options *options, int32_t is_on,
                                          mortise_error *error);
  mortise_status (*options_set_fair_strict)(mortise_options *options, int32_t is_on,
                                            mortise_error *error);
  mortise_status (*options_set_label)(mortise_options *options, const char *label, size_t label_len,
                                      mortise_error *error);
  mortise_status (*options_set_command_timeout_ms)(mortise_options *options,
                                                   int64_t command_timeout_ms,
                                                   mortise_error *error);
  mortise_client *(*client_new)(const char *url, size_t url_len, const mortise_options *options,
                                mortise_error *error);
  void (*client_free)(mortise_client *client);
  mortise_status (*client_ping)(mortise_client *client, mortise_error *error);
  mortise_lock *(*lock_new)(mortise_client *client, const char *name, size_t name_len,
                            const mortise_options *options, mortise_error *error);
  void (*lock_free)(mortise_lock *lock);
  mortise_status (*lock_try)(mortise_lock *lock, mortise_error *error);
  mortise_status (*lock_acquire)(mortise_lock *lock, int64_t timeout_ms, mortise_error *error);
  mortise_status (*lock_unlock)(mortise_lock *lock, mortise_error *error);
  mortise_status (*lock_extend)(mortise_lock *lock, int64_t lease_ms, mortise_error *error);
  mortise_status (*lock_cancel)(mortise_lock *lock, mortise_error *error);
  int32_t (*lock_is_held)(const mortise_lock *lock);
  int64_t (*lock_valid_ms)(const mortise_lock *lock);
  int64_t (*lock_token)(const mortise_lock *lock);
  mortise_status (*lock_query)(mortise_lock *lock, mortise_info *info, mortise_error *error);
  mortise_status (*lock_try_async)(mortise_lock *lock, mortise_queue *queue, int64_t tag,
                                   mortise_error *error);
  mortise_status (*lock_acquire_async)(mortise_lock *lock, mortise_queue *queue, int64_t tag,
                                       int64_t timeout_ms, mortise_error *error);
  mortise_status (*lock_unlock_async)(mortise_lock *lock, mortise_queue *queue, int64_t tag,
                                      mortise_error *error);
  mortise_status (*lock_extend_async)(mortise_lock *lock, mortise_queue *queue, int64_t tag,
                                      int64_t lease_ms, mortise_error *error);
  mortise_status (*lock_watch)(mortise_lock *lock, mortise_queue *queue, int64_t tag,
                               mortise_error *error);
  mortise_info *(*info_new)(void);
  void (*info_free)(mortise_info *info);
  int32_t (*info_is_held)(const mortise_info *info);
  int32_t (*info_is_mine)(const mortise_info *info);
  int64_t (*info_time_left_ms)(const mortise_info *info);
  int64_t (*info_latest_token)(const mortise_info *info);
  int64_t (*info_waiter_count)(const mortise_info *info);
  int64_t (*info_entry_count)(const mortise_info *info);
  const char *(*info_entry_owner)(const mortise_info *info, int64_t index);
  const char *(*info_entry_host)(const mortise_info *info, int64_t index);
  int64_t (*info_entry_pid)(const mortise_info *info, int64_t index);
  const char *(*info_entry_label)(const mortise_info *info, int64_t index);
  mortise_queue *(*queue_new)(mortise_client *client, int64_t capacity, mortise_error *error);
  void (*queue_free)(mortise_queue *queue);
  mortise_status (*queue_next)(mortise_queue *queue, int64_t timeout_ms, mortise_event *event,
                               mortise_error *error);
  mortise_status (*queue_next_batch)(mortise_queue *queue, int64_t timeout_ms, int64_t *records,
                                     int64_t capacity, int64_t *count, mortise_error *error);
  int32_t (*queue_fd)(const mortise_queue *queue);
  void (*queue_wake)(mortise_queue *queue);
  void (*queue_shutdown)(mortise_queue *queue);
  mortise_event *(*event_new)(void);
  void (*event_free)(mortise_event *event);
  mortise_kind (*event_kind)(const mortise_event *event);
  int64_t (*event_tag)(const mortise_event *event);
  mortise_status (*event_status)(const mortise_event *event);
  int64_t (*event_token)(const mortise_event *event);
  const char *(*event_message)(const mortise_event *event);
  const char *(*event_server_text)(const mortise_event *event);
  int32_t (*event_is_retryable)(const mortise_event *event);
  int32_t (*event_is_ambiguous)(const mortise_event *event);
  mortise_status (*options_set_reentrant_read)(mortise_options *options, int32_t is_on,
                                               mortise_error *error);
  mortise_status (*options_set_reentrant_write)(mortise_options *options, int32_t is_on,
                                                mortise_error *error);
  mortise_status (*options_set_protocol)(mortise_options *options, const char *protocol,
                                         size_t protocol_len, mortise_error *error);
  mortise_status (*options_set_poll_interval_ms)(mortise_options *options, int64_t poll_interval_ms,
                                                 mortise_error *error);
  mortise_status (*options_set_poll_attempts)(mortise_options *options, int64_t poll_attempts,
                                              mortise_error *error);
  mortise_rw *(*rw_new)(mortise_client *client, const char *name, size_t name_len,
                        const mortise_options *options, mortise_error *error);
  void (*rw_free)(mortise_rw *rw);
  mortise_status (*rw_read_try)(mortise_rw *rw, mortise_error *error);
  mortise_status (*rw_read_acquire)(mortise_rw *rw, int64_t timeout_ms, mortise_error *error);
  mortise_status (*rw_read_unlock)(mortise_rw *rw, mortise_error *error);
  mortise_status (*rw_write_try)(mortise_rw *rw, mortise_error *error);
  mortise_status (*rw_write_acquire)(mortise_rw *rw, int64_t timeout_ms, mortise_error *error);
  mortise_status (*rw_write_unlock)(mortise_rw *rw, mortise_error *error);
  mortise_status (*rw_upgrade)(mortise_rw *rw, mortise_error *error);
  mortise_status (*rw_downgrade)(mortise_rw *rw, mortise_error *error);
  mortise_status (*rw_extend)(mortise_rw *rw, int64_t lease_ms, mortise_error *error);
  mortise_status (*rw_cancel)(mortise_rw *rw, mortise_error *error);
  int32_t (*rw_is_reading)(const mortise_rw *rw);
  int32_t (*rw_is_writing)(const mortise_rw *rw);
  int64_t (*rw_valid_ms)(const mortise_rw *rw);
  int64_t (*rw_token)(const mortise_rw *rw);
  mortise_status (*rw_query)(mortise_rw *rw, mortise_info *info, mortise_error *error);
  mortise_status (*rw_read_try_async)(mortise_rw *rw, mortise_queue *queue, int64_t tag,
                                      mortise_error *error);
  mortise_status (*rw_read_acquire_async)(mortise_rw *rw, mortise_queue *queue, int64_t tag,
                                          int64_t timeout_ms, mortise_error *error);
  mortise_status (*rw_read_unlock_async)(mortise_rw *rw, mortise_queue *queue, int64_t tag,
                                         mortise_error *error);
  mortise_status (*rw_write_try_async)(mortise_rw *rw, mortise_queue *queue, int64_t tag,
                                       mortise_error *error);
  mortise_status (*rw_write_acquire_async)(mortise_rw *rw, mortise_queue *queue, int64_t tag,
                                           int64_t timeout_ms, mortise_error *error);
  mortise_status (*rw_write_unlock_async)(mortise_rw *rw, mortise_queue *queue, int64_t tag,
                                          mortise_error *error);
  mortise_status (*rw_upgrade_async)(mortise_rw *rw, mortise_queue *queue, int64_t tag,
                                     mortise_error *error);
  mortise_status (*rw_downgrade_async)(mortise_rw *rw, mortise_queue *queue, int64_t tag,
                                       mortise_error *error);
  mortise_status (*rw_extend_async)(mortise_rw *rw, mortise_queue *queue, int64_t tag,
                                    int64_t lease_ms, mortise_error *error);
  mortise_status (*rw_watch)(mortise_rw *rw, mortise_queue *queue, int64_t tag,
                             mortise_error *error);
  mortise_semaphore *(*semaphore_new)(mortise_client *client, const char *name, size_t name_len,
                                      int64_t capacity, const mortise_options *options,
                                      mortise_error *error);
  void (*semaphore_free)(mortise_semaphore *semaphore);
  mortise_status (*semaphore_try)(mortise_semaphore *semaphore, int64_t permits,
                                  mortise_error *error);
  mortise_status (*semaphore_acquire)(mortise_semaphore *semaphore, int64_t permits,
                                      int64_t timeout_ms, mortise_error *error);
  mortise_status (*semaphore_release)(mortise_semaphore *semaphore, mortise_error *error);
  mortise_status (*semaphore_resize)(mortise_semaphore *semaphore, int64_t capacity,
                                     mortise_error *error);
  mortise_status (*semaphore_extend)(mortise_semaphore *semaphore, int64_t lease_ms,
                                     mortise_error *error);
  mortise_status (*semaphore_cancel)(mortise_semaphore *semaphore, mortise_error *error);
  int32_t (*semaphore_is_held)(const mortise_semaphore *semaphore);
  int64_t (*semaphore_valid_ms)(const mortise_semaphore *semaphore);
  int64_t (*semaphore_token)(const mortise_semaphore *semaphore);
  mortise_status (*semaphore_query)(mortise_semaphore *semaphore, mortise_info *info,
                                    mortise_error *error);
  mortise_status (*semaphore_try_async)(mortise_semaphore *semaphore, mortise_queue *queue,
                                        int64_t tag, int64_t permits, mortise_error *error);
  mortise_status (*semaphore_acquire_async)(mortise_semaphore *semaphore, mortise_queue *queue,
                                            int64_t tag, int64_t permits, int64_t timeout_ms,
                                            mortise_error *error);
  mortise_status (*semaphore_release_async)(mortise_semaphore *semaphore, mortise_queue *queue,
                                            int64_t tag, mortise_error *error);
  mortise_status (*semaphore_extend_async)(mortise_semaphore *semaphore, mortise_queue *queue,
                                           int64_t tag, int64_t lease_ms, mortise_error *error);
  mortise_status (*semaphore_watch)(mortise_semaphore *semaphore, mortise_queue *queue, int64_t tag,
                                    mortise_error *error);
  mortise_multi *(*multi_new)(mortise_client *client, mortise_error *error);
  void (*multi_free)(mortise_multi *multi);
  mortise_status (*multi_add_lock)(mortise_multi *multi, mortise_lock *lock, mortise_error *error);
  mortise_status (*multi_add_reader)(mortise_multi *multi, mortise_rw *rw, mortise_error *error);
  mortise_status (*multi_add_writer)(mortise_multi *multi, mortise_rw *rw, mortise_error *error);
  mortise_status (*multi_add_semaphore)(mortise_multi *multi, mortise_semaphore *semaphore,
                                        int64_t permits, mortise_error *error);
  mortise_status (*multi_try)(mortise_multi *multi, mortise_error *error);
  mortise_status (*multi_acquire)(mortise_multi *multi, int64_t timeout_ms, mortise_error *error);
  mortise_status (*multi_unlock)(mortise_multi *multi, mortise_error *error);
  mortise_status (*multi_cancel)(mortise_multi *multi, mortise_error *error);
  int32_t (*multi_is_held)(const mortise_multi *multi);
  int64_t (*multi_valid_ms)(const mortise_multi *multi);
  int64_t (*multi_member_count)(const mortise_multi *multi);
  mortise_status (*multi_try_async)(mortise_multi *multi, mortise_queue *queue, int64_t tag,
                                    mortise_error *error);
  mortise_status (*multi_acquire_async)(mortise_multi *multi, mortise_queue *queue, int64_t tag,
                                        int64_t timeout_ms, mortise_error *error);
  mortise_status (*multi_unlock_async)(mortise_multi *multi, mortise_queue *queue, int64_t tag,
                                       mortise_error *error);
  int64_t (*info_holder_count)(const mortise_info *info);
  int64_t (*info_shown_holder_count)(const mortise_info *info);
  int64_t (*info_permits)(const mortise_info *info);
  int64_t (*info_permits_in_use)(const mortise_info *info);
  int32_t (*info_entry_is_exclusive)(const mortise_info *info, int64_t index);
  int64_t (*info_entry_permits)(const mortise_info *info, int64_t index);
  mortise_options *(*options_new_from)(const mortise_client *client, mortise_error *error);
  mortise_status (*options_set_drift_ppm)(mortise_options *options, int64_t drift_ppm,
                                          mortise_error *error);
  mortise_status (*lock_interrupt)(mortise_lock *lock, int32_t is_on, mortise_error *error);
  const char *(*lock_name)(const mortise_lock *lock, size_t *name_len);
  int64_t (*lock_deadline_ns)(const mortise_lock *lock);
  mortise_status (*rw_interrupt)(mortise_rw *rw, int32_t is_on, mortise_error *error);
  const char *(*rw_name)(const mortise_rw *rw, size_t *name_len);
  int64_t (*rw_deadline_ns)(const mortise_rw *rw);
  mortise_status (*semaphore_interrupt)(mortise_semaphore *semaphore, int32_t is_on,
                                        mortise_error *error);
  const char *(*semaphore_name)(const mortise_semaphore *semaphore, size_t *name_len);
  int64_t (*semaphore_deadline_ns)(const mortise_semaphore *semaphore);
  mortise_status (*multi_interrupt)(mortise_multi *multi, int32_t is_on, mortise_error *error);
  int64_t (*multi_deadline_ns)(const mortise_multi *multi);
  mortise_reason (*error_reason)(const mortise_error *error);
  mortise_reason (*event_reason)(const mortise_event *event);
  mortise_status (*multi_extend)(mortise_multi *multi, int64_t lease_ms, mortise_error *error);
  mortise_status (*multi_extend_async)(mortise_multi *multi, mortise_queue *queue, int64_t tag,
                                       int64_t lease_ms, mortise_error *error);
  const char *(*error_lock_name)(const mortise_error *error, size_t *name_len);
  const char *(*event_lock_name)(const mortise_event *event, size_t *name_len);
  mortise_status (*multi_watch)(mortise_multi *multi, mortise_queue *queue, int64_t tag,
                                mortise_error *error);
  mortise_health *(*client_check_health)(mortise_client *client, mortise_error *error);
  mortise_health *(*client_last_health)(mortise_client *client, mortise_error *error);
  void (*health_free)(mortise_health *health);
  int64_t (*health_count)(const mortise_health *health);
  mortise_severity (*health_worst)(const mortise_health *health);
  const char *(*health_name)(const mortise_health *health, int64_t index);
  mortise_severity (*health_severity)(const mortise_health *health, int64_t index);
  const char *(*health_server)(const mortise_health *health, int64_t index);
  const char *(*health_value)(const mortise_health *health, int64_t index);
  const char *(*health_consequence)(const mortise_health *health, int64_t index);
  const char *(*health_remedy)(const mortise_health *health, int64_t index);
  const char *(*health_json)(const mortise_health *health);
  const char *(*severity_text)(mortise_severity severity);
  mortise_status (*client_set_credentials)(mortise_client *client, const char *user,
                                           size_t user_len, const char *password,
                                           size_t password_len, mortise_error *error);
  mortise_stats *(*client_stats)(mortise_client *client, mortise_error *error);
  void (*stats_free)(mortise_stats *stats);
  const char *(*stats_json)(const mortise_stats *stats);
  const char *(*stats_prometheus)(const mortise_stats *stats);
  int64_t (*stats_count)(const mortise_stats *stats);
  const char *(*stats_name)(const mortise_stats *stats, int64_t index);
  const char *(*stats_type)(const mortise_stats *stats, int64_t index);
  double (*stats_value)(const mortise_stats *stats, int64_t index);
  int64_t (*stats_label_count)(const mortise_stats *stats, int64_t index);
  const char *(*stats_label_name)(const mortise_stats *stats, int64_t index, int64_t label);
  const char *(*stats_label_value)(const mortise_stats *stats, int64_t index, int64_t label);
  mortise_listing *(*client_list_locks)(mortise_client *client, int64_t timeout_ms,
                                        mortise_error *error);
  void (*listing_free)(mortise_listing *listing);
  const char *(*listing_json)(const mortise_listing *listing);
  int64_t (*listing_answered)(const mortise_listing *listing);
  int64_t (*listing_silent)(const mortise_listing *listing);
  int64_t (*listing_truncated)(const mortise_listing *listing);
  int64_t (*listing_count)(const mortise_listing *listing);
  const char *(*listing_text)(const mortise_listing *listing, int64_t index, const char *key,
                              size_t key_len);
  int64_t (*listing_number)(const mortise_listing *listing, int64_t index, const char *key,
                            size_t key_len);
  mortise_status (*lock_force_release)(mortise_lock *lock, const char *owner, size_t owner_len,
                                       mortise_error *error);
  mortise_status (*rw_force_release)(mortise_rw *rw, const char *owner, size_t owner_len,
                                     mortise_error *error);
  mortise_status (*semaphore_force_release)(mortise_semaphore *semaphore, const char *owner,
                                            size_t owner_len, mortise_error *error);
  mortise_status (*client_watch_log)(mortise_client *client, mortise_queue *queue, int64_t tag,
                                     mortise_log_level level, mortise_error *error);
  mortise_status (*client_watch_stats)(mortise_client *client, mortise_queue *queue, int64_t tag,
                                       int64_t interval_ms, mortise_error *error);
  mortise_log_level (*event_log_level)(const mortise_event *event);
  mortise_log_subject (*event_log_subject)(const mortise_event *event);
  int64_t (*event_dropped_records)(const mortise_event *event);
  const char *(*log_level_text)(mortise_log_level level);
  const char *(*log_subject_text)(mortise_log_subject subject);
  mortise_listing *(*client_scan_locks)(mortise_client *client, const char *pattern,
                                        size_t pattern_len, int64_t most_keys, int64_t timeout_ms,
                                        mortise_error *error);
  mortise_status (*options_set_retain_ms)(mortise_options *options, int64_t retain_ms,
                                          mortise_error *error);
  int32_t (*info_entry_is_retained)(const mortise_info *info, int64_t index);
  int64_t (*lock_hold_number)(const mortise_lock *lock);
  mortise_status (*lock_unlock_hold)(mortise_lock *lock, int64_t hold_number, mortise_error *error);
  mortise_status (*lock_unlock_hold_async)(mortise_lock *lock, mortise_queue *queue, int64_t tag,
                                           int64_t hold_number, mortise_error *error);
  int64_t (*rw_hold_number)(const mortise_rw *rw);
  mortise_status (*rw_read_unlock_hold)(mortise_rw *rw, int64_t hold_number, mortise_error *error);
  mortise_status (*rw_read_unlock_hold_async)(mortise_rw *rw, mortise_queue *queue, int64_t tag,
                                              int64_t hold_number, mortise_error *error);
  mortise_status (*rw_write_unlock_hold)(mortise_rw *rw, int64_t hold_number, mortise_error *error);
  mortise_status (*rw_write_unlock_hold_async)(mortise_rw *rw, mortise_queue *queue, int64_t tag,
                                               int64_t hold_number, mortise_error *error);
  int64_t (*semaphore_hold_number)(const mortise_semaphore *semaphore);
  mortise_status (*semaphore_release_hold)(mortise_semaphore *semaphore, int64_t hold_number,
                                           mortise_error *error);
  mortise_status (*semaphore_release_hold_async)(mortise_semaphore *semaphore, mortise_queue *queue,
                                                 int64_t tag, int64_t hold_number,
                                                 mortise_error *error);
  int64_t (*multi_hold_number)(const mortise_multi *multi);
  mortise_status (*multi_unlock_hold)(mortise_multi *multi, int64_t hold_number,
                                      mortise_error *error);
  mortise_status (*multi_unlock_hold_async)(mortise_multi *multi, mortise_queue *queue, int64_t tag,
                                            int64_t hold_number, mortise_error *error);
  int64_t (*event_hold_number)(const mortise_event *event);
  mortise_status (*options_set_progress_ms)(mortise_options *options, int64_t progress_ms,
                                            mortise_error *error);
  mortise_status (*lock_progress)(mortise_lock *lock, mortise_error *error);
  mortise_status (*rw_progress)(mortise_rw *rw, mortise_error *error);
  mortise_status (*semaphore_progress)(mortise_semaphore *semaphore, mortise_error *error);
  mortise_status (*multi_progress)(mortise_multi *multi, mortise_error *error);
  mortise_status (*lock_set_value)(mortise_lock *lock, const char *value, size_t value_len,
                                   mortise_error *error);
  mortise_status (*lock_set_value_async)(mortise_lock *lock, mortise_queue *queue, int64_t tag,
                                         const char *value, size_t value_len, mortise_error *error);
  mortise_status (*rw_set_value)(mortise_rw *rw, const char *value, size_t value_len,
                                 mortise_error *error);
  mortise_status (*rw_set_value_async)(mortise_rw *rw, mortise_queue *queue, int64_t tag,
                                       const char *value, size_t value_len, mortise_error *error);
  mortise_status (*semaphore_set_value)(mortise_semaphore *semaphore, const char *value,
                                        size_t value_len, mortise_error *error);
  mortise_status (*semaphore_set_value_async)(mortise_semaphore *semaphore, mortise_queue *queue,
                                              int64_t tag, const char *value, size_t value_len,
                                              mortise_error *error);
  const char *(*info_entry_value)(const mortise_info *info, int64_t index);
  mortise_hold_id *(*lock_export)(mortise_lock *lock, int64_t lease_ms, mortise_error *error);
  mortise_status (*lock_adopt)(mortise_lock *lock, const char *id, size_t id_len,
                               mortise_error *error);
  mortise_hold_id *(*rw_export)(mortise_rw *rw, int64_t lease_ms, mortise_error *error);
  mortise_status (*rw_adopt)(mortise_rw *rw, const char *id, size_t id_len, mortise_error *error);
  mortise_hold_id *(*semaphore_export)(mortise_semaphore *semaphore, int64_t lease_ms,
                                       mortise_error *error);
  mortise_status (*semaphore_adopt)(mortise_semaphore *semaphore, const char *id, size_t id_len,
                                    mortise_error *error);
  mortise_hold_id *(*hold_id_new)(const char *id, size_t id_len, mortise_error *error);
  void (*hold_id_free)(mortise_hold_id *hold_id);
  const char *(*hold_id_text)(const mortise_hold_id *hold_id);
  const char *(*hold_id_name)(const mortise_hold_id *hold_id, size_t *name_len);
  const char *(*hold_id_kind)(const mortise_hold_id *hold_id);
  int32_t (*hold_id_is_exclusive)(const mortise_hold_id *hold_id);
  int64_t (*hold_id_capacity)(const mortise_hold_id *hold_id);
  int64_t (*hold_id_valid_until_ms)(const mortise_hold_id *hold_id);
  mortise_listing *(*client_list_history)(mortise_client *client, const char *name, size_t name_len,
                                          int64_t window_ms, int64_t timeout_ms,
                                          mortise_error *error);
  mortise_election *(*election_new)(mortise_client *client, const char *name, size_t name_len,
                                    const mortise_options *options, mortise_error *error);
  void (*election_free)(mortise_election *election);
  mortise_status (*election_campaign)(mortise_election *election, int64_t timeout_ms,
                                      mortise_error *error);
  mortise_status (*election_campaign_async)(mortise_election *election, mortise_queue *queue,
                                            int64_t tag, int64_t timeout_ms, mortise_error *error);
  mortise_status (*election_resign)(mortise_election *election, mortise_error *error);
  mortise_status (*election_resign_async)(mortise_election *election, mortise_queue *queue,
                                          int64_t tag, mortise_error *error);
  mortise_status (*election_resign_hold)(mortise_election *election, int64_t hold_number,
                                         mortise_error *error);
  mortise_status (*election_resign_hold_async)(mortise_election *election, mortise_queue *queue,
                                               int64_t tag, int64_t hold_number,
                                               mortise_error *error);
  mortise_status (*election_extend)(mortise_election *election, int64_t lease_ms,
                                    mortise_error *error);
  mortise_status (*election_extend_async)(mortise_election *election, mortise_queue *queue,
                                          int64_t tag, int64_t lease_ms, mortise_error *error);
  mortise_status (*election_progress)(mortise_election *election, mortise_error *error);
  mortise_status (*election_set_value)(mortise_election *election, const char *value,
                                       size_t value_len, mortise_error *error);
  mortise_status (*election_set_value_async)(mortise_election *election, mortise_queue *queue,
                                             int64_t tag, const char *value, size_t value_len,
                                             mortise_error *error);
  mortise_status (*election_cancel)(mortise_election *election, mortise_error *error);
  mortise_status (*election_interrupt)(mortise_election *election, int32_t is_on,
                                       mortise_error *error);
  const char *(*election_name)(const mortise_election *election, size_t *name_len);
  int32_t (*election_is_leader)(const mortise_election *election);
  int64_t (*election_valid_ms)(const mortise_election *election);
  int64_t (*election_deadline_ns)(const mortise_election *election);
  int64_t (*election_token)(const mortise_election *election);
  int64_t (*election_hold_number)(const mortise_election *election);
  mortise_status (*election_query)(mortise_election *election, mortise_info *info,
                                   mortise_error *error);
  mortise_status (*election_force_release)(mortise_election *election, const char *owner,
                                           size_t owner_len, mortise_error *error);
  mortise_status (*election_watch)(mortise_election *election, mortise_queue *queue, int64_t tag,
                                   mortise_error *error);
  mortise_status (*election_observe)(mortise_election *election, mortise_queue *queue, int64_t tag,
                                     int64_t interval_ms, mortise_error *error);
  mortise_status (*event_leader)(const mortise_event *event, mortise_info *info,
                                 mortise_error *error);
  mortise_status (*client_watch_locks)(mortise_client *client, mortise_queue *queue, int64_t tag,
                                       mortise_error *error);
  const char *(*event_lock_kind)(const mortise_event *event);
  int64_t (*event_handle_number)(const mortise_event *event);
  int64_t (*event_time_us)(const mortise_event *event);
  int64_t (*event_lasted_us)(const mortise_event *event);
  mortise_status (*lock_set_task)(mortise_lock *lock, int64_t task, mortise_error *error);
  mortise_status (*rw_set_task)(mortise_rw *rw, int64_t task, mortise_error *error);
  mortise_status (*semaphore_set_task)(mortise_semaphore *semaphore, int64_t task,
                                       mortise_error *error);
  mortise_status (*election_set_task)(mortise_election *election, int64_t task,
                                      mortise_error *error);
  mortise_status (*multi_set_task)(mortise_multi *multi, int64_t task, mortise_error *error);
};

#endif  // MORTISE_API_H
