/* Prints what the server has of a lock: the holder, and a client that
 * waits. */
#include <inttypes.h>
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
  mortise_client *other = mortise_client_new(NULL, 0, NULL, error);
  check(mortise_error_status(error), error);
  mortise_lock *holder =
      mortise_lock_new(client, "report", 6, NULL, error);
  mortise_lock *waiter =
      mortise_lock_new(other, "report", 6, NULL, error);
  mortise_queue *queue = mortise_queue_new(other, 0, error);
  mortise_info *info = mortise_info_new();
  check(mortise_lock_acquire(holder, 5000, error), error);
  check(mortise_lock_acquire_async(waiter, queue, 1, MORTISE_FOREVER,
                                   error),
        error);
  do {
    check(mortise_lock_query(holder, info, error), error);
  } while (mortise_info_waiter_count(info) == 0);

  printf("held %d, mine %d, %" PRId64 " holder, %" PRId64 " waiter\n",
         mortise_info_is_held(info), mortise_info_is_mine(info),
         mortise_info_holder_count(info),
         mortise_info_waiter_count(info));
  printf("%" PRId64 " of %" PRId64 " permits\n",
         mortise_info_permits_in_use(info), mortise_info_permits(info));
  if (mortise_info_latest_token(info) < mortise_lock_token(holder))
    return 1;
  if (mortise_info_time_left_ms(info) <= 0) return 1;
  for (int64_t i = 0; i < mortise_info_entry_count(info); i++) {
    printf(
        "%s: exclusive %d, retained %d, permits %" PRId64 "\n",
        i < mortise_info_shown_holder_count(info) ? "holder" : "waiter",
        mortise_info_entry_is_exclusive(info, i),
        mortise_info_entry_is_retained(info, i),
        mortise_info_entry_permits(info, i));
    fprintf(stderr, "%s: process %" PRId64 " on %s, label \"%s\"\n",
            mortise_info_entry_owner(info, i),
            mortise_info_entry_pid(info, i),
            mortise_info_entry_host(info, i),
            mortise_info_entry_label(info, i));
  }

  mortise_info_free(info);
  mortise_queue_free(queue);
  mortise_lock_free(waiter);
  mortise_lock_free(holder);
  mortise_client_free(other);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     held 1, mine 1, 1 holder, 1 waiter
 *     1 of 1 permits
 *     holder: exclusive 1, retained 0, permits 1
 *     waiter: exclusive 1, retained 0, permits 1
 */
