/* Shows the address of a leader, of a writer and of a holder of permits
 * to everybody who queries their locks. */
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
  mortise_queue *queue = mortise_queue_new(client, 0, error);
  mortise_event *event = mortise_event_new();
  mortise_info *info = mortise_info_new();

  mortise_lock *leader =
      mortise_lock_new(client, "leader", 6, NULL, error);
  check(mortise_lock_acquire(leader, 5000, error), error);
  check(mortise_lock_set_value(leader, "10.0.0.5:8080", 13, error),
        error);
  check(mortise_lock_query(leader, info, error), error);
  printf("leader: %s\n", mortise_info_entry_value(info, 0));
  check(
      mortise_lock_set_value_async(leader, queue, 1, "moved", 5, error),
      error);
  check(mortise_queue_next(queue, MORTISE_FOREVER, event, error),
        error);
  check(mortise_lock_query(leader, info, error), error);
  printf("leader: %s\n", mortise_info_entry_value(info, 0));

  mortise_rw *writer = mortise_rw_new(client, "table", 5, NULL, error);
  check(mortise_rw_write_acquire(writer, 5000, error), error);
  check(mortise_rw_set_value(writer, "row 1", 5, error), error);
  check(mortise_rw_set_value_async(writer, queue, 2, "row 2", 5, error),
        error);
  check(mortise_queue_next(queue, MORTISE_FOREVER, event, error),
        error);
  check(mortise_rw_query(writer, info, error), error);
  printf("writer: %s\n", mortise_info_entry_value(info, 0));

  mortise_semaphore *pool =
      mortise_semaphore_new(client, "pool", 4, 3, NULL, error);
  check(mortise_semaphore_acquire(pool, 1, 5000, error), error);
  check(mortise_semaphore_set_value(pool, "job 7", 5, error), error);
  check(mortise_semaphore_set_value_async(pool, queue, 3, "job 8", 5,
                                          error),
        error);
  check(mortise_queue_next(queue, MORTISE_FOREVER, event, error),
        error);
  check(mortise_semaphore_query(pool, info, error), error);
  printf("permit: %s\n", mortise_info_entry_value(info, 0));

  check(mortise_semaphore_release(pool, error), error);
  check(mortise_rw_write_unlock(writer, error), error);
  check(mortise_lock_unlock(leader, error), error);
  mortise_semaphore_free(pool);
  mortise_rw_free(writer);
  mortise_lock_free(leader);
  mortise_info_free(info);
  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     leader: 10.0.0.5:8080
 *     leader: moved
 *     writer: row 2
 *     permit: job 8
 */
