/* The asynchronous calls of a semaphore. Events report the results. */
#include <mortise/mortise.h>
#include <stdio.h>
#include <stdlib.h>

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
  mortise_semaphore *semaphore =
      mortise_semaphore_new(client, "pool", 4, 3, NULL, error);
  mortise_queue *queue = mortise_queue_new(client, 0, error);
  mortise_event *event = mortise_event_new();

  check(mortise_semaphore_try_async(semaphore, queue, 0, 1, error),
        error);
  await(queue, event, "try");
  check(
      mortise_semaphore_extend_async(semaphore, queue, 0, 60000, error),
      error);
  await(queue, event, "extend");
  check(mortise_semaphore_release_async(semaphore, queue, 0, error),
        error);
  await(queue, event, "release");

  check(mortise_semaphore_acquire_async(semaphore, queue, 0, 2, 5000,
                                        error),
        error);
  await(queue, event, "acquire");
  int64_t hold = mortise_event_hold_number(event);
  check(mortise_semaphore_release_hold_async(semaphore, queue, 0, hold,
                                             error),
        error);
  await(queue, event, "release");

  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_semaphore_free(semaphore);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     try: ok
 *     extend: ok
 *     release: ok
 *     acquire: ok
 *     release: ok
 */
