/* Reads all that an event has: of a grant, a failure, a loss, and a
 * record of the log. */
#include <inttypes.h>
#include <mortise/mortise.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(mortise_status status, const mortise_error *error) {
  if (status == MORTISE_OK) return;
  fprintf(stderr, "%s: %s\n", mortise_status_text(status),
          mortise_error_message(error));
  exit(1);
}

static void print(const mortise_event *event) {
  size_t name_len = 0;
  const char *name = mortise_event_lock_name(event, &name_len);
  printf("kind %d of \"%.*s\", tag %" PRId64 ", %s\n",
         (int)mortise_event_kind(event), (int)name_len, name,
         mortise_event_tag(event),
         mortise_status_text(mortise_event_status(event)));
  printf("  hold %" PRId64
         ", token %s, forced %d, retryable %d, ambiguous %d\n",
         mortise_event_hold_number(event),
         mortise_event_token(event) ? "yes" : "no",
         mortise_event_reason(event) == MORTISE_REASON_FORCED,
         mortise_event_is_retryable(event),
         mortise_event_is_ambiguous(event));
  if (mortise_event_kind(event) == MORTISE_EVENT_LOG) {
    printf("  %s of subject %s after %" PRId64 " dropped records\n",
           mortise_log_level_text(mortise_event_log_level(event)),
           mortise_log_subject_text(mortise_event_log_subject(event)),
           mortise_event_dropped_records(event));
  }
  printf("  \"%s\", server: \"%s\"\n", mortise_event_message(event),
         mortise_event_server_text(event));
}

int main(void) {
  mortise_error *error = mortise_error_new();
  mortise_client *client = mortise_client_new(NULL, 0, NULL, error);
  check(mortise_error_status(error), error);
  mortise_lock *lock =
      mortise_lock_new(client, "report", 6, NULL, error);
  mortise_lock *other =
      mortise_lock_new(client, "report", 6, NULL, error);
  mortise_queue *queue = mortise_queue_new(client, 0, error);
  mortise_event *event = mortise_event_new();
  check(mortise_client_watch_log(client, queue, 3,
                                 MORTISE_LOG_LEVEL_INFO, error),
        error);

  check(mortise_lock_acquire_async(lock, queue, 1, 5000, error), error);
  check(mortise_queue_next(queue, MORTISE_FOREVER, event, error),
        error);
  print(event);
  check(mortise_lock_try_async(other, queue, 2, error), error);
  check(mortise_queue_next(queue, MORTISE_FOREVER, event, error),
        error);
  print(event);

  mortise_info *info = mortise_info_new();
  check(mortise_lock_query(lock, info, error), error);
  const char *owner = mortise_info_entry_owner(info, 0);
  check(mortise_lock_force_release(lock, owner, strlen(owner), error),
        error);
  check(mortise_queue_next(queue, MORTISE_FOREVER, event, error),
        error);
  print(event);

  mortise_info_free(info);
  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_lock_free(other);
  mortise_lock_free(lock);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     kind 1 of "", tag 1, ok
 *       hold 1, token yes, forced 0, retryable 0, ambiguous 0
 *       "", server: ""
 *     kind 1 of "report", tag 2, not acquired
 *       hold 0, token no, forced 0, retryable 0, ambiguous 0
 *       ""report": another handle of this client holds it", server: ""
 *     kind 8 of "report", tag 3, lost
 *       hold 0, token no, forced 1, retryable 0, ambiguous 0
 *       error of subject lost after 0 dropped records
 *       ""report": the hold was ended by force", server: ""
 */
