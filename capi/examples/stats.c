/* Reads the counters of a client when a queue says that they are due.
 */
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
  check(mortise_lock_acquire(lock, 5000, error), error);
  mortise_queue *queue = mortise_queue_new(client, 0, error);
  mortise_event *event = mortise_event_new();
  check(mortise_client_watch_stats(client, queue, 1, 10, error), error);
  check(mortise_queue_next(queue, MORTISE_FOREVER, event, error),
        error);

  mortise_stats *stats = mortise_client_stats(client, error);
  check(mortise_error_status(error), error);
  for (int64_t i = 0; i < mortise_stats_count(stats); i++) {
    if (strcmp(mortise_stats_name(stats, i), "mortise_holds") != 0)
      continue;
    for (int64_t label = 0; label < mortise_stats_label_count(stats, i);
         label++) {
      printf("%s=%s ", mortise_stats_label_name(stats, i, label),
             mortise_stats_label_value(stats, i, label));
    }
    printf("%s %g\n", mortise_stats_type(stats, i),
           mortise_stats_value(stats, i));
  }
  /* All of them, as one text for a monitor. */
  printf("JSON %s, Prometheus %s\n",
         mortise_stats_json(stats)[0] == '{' ? "yes" : "no",
         strstr(mortise_stats_prometheus(stats), "mortise_holds")
             ? "yes"
             : "no");

  mortise_stats_free(stats);
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
 *     kind=mutex gauge 1
 *     JSON yes, Prometheus yes
 */
