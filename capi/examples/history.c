/* Shows the latest holds of a lock. */
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
  check(mortise_error_status(error), error);
  mortise_lock *lock =
      mortise_lock_new(client, "report", 6, NULL, error);
  check(mortise_lock_acquire(lock, 5000, error), error);
  check(mortise_lock_unlock(lock, error), error);

  mortise_listing *history = mortise_client_list_history(
      client, "report", 6, 600000, 2000, error);
  check(mortise_error_status(error), error);
  for (int64_t i = 0; i < mortise_listing_count(history); i++) {
    printf("%s by process %s\n",
           mortise_listing_text(history, i, "event", 5),
           mortise_listing_number(history, i, "pid", 3) > 0
               ? "known"
               : "unknown");
  }
  mortise_listing_free(history);

  mortise_lock_free(lock);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     granted by process known
 *     released by process known
 */
