/* The asynchronous calls of a multi. Events report the results, also
 * the loss of a member. */
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

/* Waits for the event of the call that was just started. */
static void await(mortise_queue *queue, mortise_event *event,
                  const char *call) {
  check(mortise_queue_next(queue, MORTISE_FOREVER, event, NULL), NULL);
  printf("%s: %s\n", call,
         mortise_status_text(mortise_event_status(event)));
}

int main(void) {
  mortise_error *error = mortise_error_new();
  mortise_client *client = mortise_client_new(NULL, 0, NULL, error);
  check(mortise_error_status(error), error);
  mortise_lock *lock =
      mortise_lock_new(client, "report", 6, NULL, error);
  mortise_multi *multi = mortise_multi_new(client, error);
  check(mortise_multi_add_lock(multi, lock, error), error);
  mortise_queue *queue = mortise_queue_new(client, 0, error);
  mortise_event *event = mortise_event_new();

  check(mortise_multi_try_async(multi, queue, 0, error), error);
  await(queue, event, "try");
  check(mortise_multi_extend_async(multi, queue, 0, 60000, error),
        error);
  await(queue, event, "extend");
  check(mortise_multi_unlock_async(multi, queue, 0, error), error);
  await(queue, event, "unlock");
  check(mortise_multi_acquire_async(multi, queue, 0, 5000, error),
        error);
  await(queue, event, "acquire");
  int64_t hold = mortise_multi_hold_number(multi);
  check(mortise_multi_unlock_hold_async(multi, queue, 0, hold, error),
        error);
  await(queue, event, "unlock");

  /* An interrupt keeps later acquires from waiting. A cancel ends one
   * that waits. */
  check(mortise_multi_interrupt(multi, 1, error), error);
  printf("interrupted: %s\n", mortise_status_text(mortise_multi_acquire(
                                  multi, 5000, error)));
  check(mortise_multi_interrupt(multi, 0, error), error);
  printf("cancel: %s\n",
         mortise_status_text(mortise_multi_cancel(multi, error)));

  /* An operator ends the hold of a member. */
  check(mortise_multi_acquire(multi, 5000, error), error);
  check(mortise_multi_watch(multi, queue, 0, error), error);
  mortise_info *info = mortise_info_new();
  check(mortise_lock_query(lock, info, error), error);
  const char *owner = mortise_info_entry_owner(info, 0);
  check(mortise_lock_force_release(lock, owner, strlen(owner), error),
        error);
  do {
    check(mortise_queue_next(queue, MORTISE_FOREVER, event, error),
          error);
  } while (mortise_event_kind(event) != MORTISE_EVENT_LOST);
  printf("lost: %s\n", mortise_event_lock_name(event, NULL));

  mortise_info_free(info);
  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_multi_free(multi);
  mortise_lock_free(lock);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     try: ok
 *     extend: ok
 *     unlock: ok
 *     acquire: ok
 *     unlock: ok
 *     interrupted: cancelled
 *     cancel: not waiting
 *     lost: report
 */
