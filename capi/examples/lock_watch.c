/* Shows the holder of a mutex, ends its hold as an operator would, and
 * reads the report of the loss. */
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

int main(void) {
  mortise_error *error = mortise_error_new();
  mortise_client *client = mortise_client_new(NULL, 0, NULL, error);
  check(mortise_error_status(error), error);
  mortise_lock *lock =
      mortise_lock_new(client, "report", 6, NULL, error);
  mortise_queue *queue = mortise_queue_new(client, 0, error);
  mortise_event *event = mortise_event_new();
  check(mortise_lock_acquire(lock, 5000, error), error);
  check(mortise_lock_watch(lock, queue, 7, error), error);

  mortise_info *info = mortise_info_new();
  check(mortise_lock_query(lock, info, error), error);
  const char *owner = mortise_info_entry_owner(info, 0);
  check(mortise_lock_force_release(lock, owner, strlen(owner), error),
        error);

  do {
    check(mortise_queue_next(queue, MORTISE_FOREVER, event, error),
          error);
    size_t name_len = 0;
    const char *name = mortise_event_lock_name(event, &name_len);
    printf("%.*s: %s, tag %d, %s\n", (int)name_len, name,
           mortise_event_kind(event) == MORTISE_EVENT_LOST ? "lost"
                                                           : "at risk",
           (int)mortise_event_tag(event),
           mortise_event_reason(event) == MORTISE_REASON_FORCED
               ? "forced"
               : "for another reason");
  } while (mortise_event_kind(event) != MORTISE_EVENT_LOST);
  puts(mortise_event_message(event));
  puts(mortise_status_text(mortise_lock_unlock(lock, error)));

  mortise_info_free(info);
  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_lock_free(lock);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     report: at risk, tag 7, forced
 *     report: lost, tag 7, forced
 *     "report": the hold was ended by force
 *     lost
 */
