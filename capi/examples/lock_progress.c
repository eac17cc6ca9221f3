/* Reports progress after each item of work. Work that stalls is
 * noticed, and would lose the lock without a further report. */
#include <mortise/mortise.h>
#include <stdio.h>
#include <stdlib.h>

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
  mortise_options *options = mortise_options_new_from(client, error);
  check(mortise_options_set_lease_ms(options, 6000, error), error);
  check(mortise_options_set_progress_ms(options, 500, error), error);
  mortise_lock *lock =
      mortise_lock_new(client, "report", 6, options, error);
  mortise_queue *queue = mortise_queue_new(client, 0, error);
  mortise_event *event = mortise_event_new();
  check(mortise_error_status(error), error);
  check(mortise_lock_watch(lock, queue, 7, error), error);
  check(mortise_lock_acquire(lock, 5000, error), error);

  for (int item = 1; item <= 3; ++item) {
    /* Work on the item. */
    check(mortise_lock_progress(lock, error), error);
    printf("item %d\n", item);
  }
  /* The next item takes too long. */
  check(mortise_queue_next(queue, MORTISE_FOREVER, event, error),
        error);
  if (mortise_event_reason(event) == MORTISE_REASON_STALLED) {
    puts(mortise_event_message(event));
  }
  /* It is done after all, and the lock is still held. */
  check(mortise_lock_progress(lock, error), error);
  puts(mortise_lock_is_held(lock) ? "held" : "lost");
  check(mortise_lock_unlock(lock, error), error);

  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_lock_free(lock);
  mortise_options_free(options);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     item 1
 *     item 2
 *     item 3
 *     "report": no progress was reported in time, so the hold is no longer renewed
 *     held
 */
