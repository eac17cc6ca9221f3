/* Names the tasks of asynchronous acquires, so that a deadlock of
 * tasks ends. */
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

/* Waits for the end of this call. An event loop polls
 * `mortise_queue_fd` instead. */
static void await(mortise_queue *queue, mortise_event *event) {
  check(mortise_queue_next(queue, MORTISE_FOREVER, event, NULL), NULL);
  printf("call %d: %s\n", (int)mortise_event_tag(event),
         mortise_status_text(mortise_event_status(event)));
}

int main(void) {
  mortise_error *error = mortise_error_new();
  mortise_options *options = mortise_options_new();
  check(mortise_options_set(options, MORTISE_OPTION_DEADLOCK, 8, "fail",
                            4, error),
        error);
  mortise_client *client = mortise_client_new(NULL, 0, options, error);
  check(mortise_error_status(error), error);
  mortise_queue *queue = mortise_queue_new(client, 0, error);
  mortise_event *event = mortise_event_new();

  /* Each task holds a lock and waits for that of the other. */
  const char *names[] = {"orders", "stock"};
  mortise_lock *held[2];
  mortise_lock *awaited[2];
  for (int i = 0; i < 2; ++i) {
    int64_t task = 1 + i;
    const char *other = names[1 - i];
    held[i] = mortise_lock_new(client, names[i], strlen(names[i]), NULL,
                               error);
    awaited[i] =
        mortise_lock_new(client, other, strlen(other), NULL, error);
    check(mortise_lock_set_task(held[i], task, error), error);
    check(mortise_lock_set_task(awaited[i], task, error), error);
    check(mortise_lock_acquire(held[i], 5000, error), error);
  }
  for (int i = 0; i < 2; ++i) {
    check(mortise_lock_acquire_async(awaited[i], queue, 1 + i, 60000,
                                     error),
          error);
  }
  /* The younger wait ends. Its task unlocks, and the other goes on. */
  await(queue, event);
  check(mortise_lock_unlock(held[1], error), error);
  await(queue, event);

  /* The other kinds of handles have tasks too. 0 is none. */
  mortise_rw *rw = mortise_rw_new(client, "catalog", 7, NULL, error);
  mortise_semaphore *permits =
      mortise_semaphore_new(client, "workers", 7, 3, NULL, error);
  mortise_multi *multi = mortise_multi_new(client, error);
  mortise_election *election =
      mortise_election_new(client, "leader", 6, NULL, error);
  check(mortise_rw_set_task(rw, 3, error), error);
  check(mortise_semaphore_set_task(permits, 3, error), error);
  check(mortise_multi_set_task(multi, 3, error), error);
  check(mortise_election_set_task(election, 0, error), error);

  mortise_election_free(election);
  mortise_multi_free(multi);
  mortise_semaphore_free(permits);
  mortise_rw_free(rw);
  for (int i = 0; i < 2; ++i) {
    mortise_lock_free(awaited[i]);
    mortise_lock_free(held[i]);
  }
  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_client_free(client);
  mortise_options_free(options);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     call 2: deadlock
 *     call 1: ok
 */
