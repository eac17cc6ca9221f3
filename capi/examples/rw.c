/* Reads and writes under a read-write lock. */
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
  mortise_rw *rw = mortise_rw_new(client, "table", 5, NULL, error);
  mortise_rw *other = mortise_rw_new(client, "table", 5, NULL, error);
  check(mortise_error_status(error), error);

  /* Readers share the lock. */
  check(mortise_rw_read_acquire(rw, 5000, error), error);
  check(mortise_rw_read_try(other, error), error);
  printf("%s: two readers, a writer is %s\n", mortise_rw_name(rw, NULL),
         mortise_status_text(mortise_rw_upgrade(rw, error)));
  check(mortise_rw_read_unlock(other, error), error);

  /* The only reader becomes a writer, and a reader again. */
  check(mortise_rw_upgrade(rw, error), error);
  printf("reading %d, writing %d\n", mortise_rw_is_reading(rw),
         mortise_rw_is_writing(rw));
  if (mortise_rw_token(rw) == 0 || mortise_rw_valid_ms(rw) == 0)
    return 1;
  check(mortise_rw_downgrade(rw, error), error);
  int64_t deadline_ns = mortise_rw_deadline_ns(rw);
  check(mortise_rw_extend(rw, 60000, error), error);
  check(mortise_rw_progress(rw, error), error);
  puts(mortise_rw_deadline_ns(rw) > deadline_ns ? "extended"
                                                : "as before");
  check(mortise_rw_read_unlock_hold(rw, mortise_rw_hold_number(rw),
                                    error),
        error);

  /* A hold outlives its handle as an id. */
  check(mortise_rw_write_acquire(rw, 5000, error), error);
  mortise_hold_id *id = mortise_rw_export(rw, 60000, error);
  check(mortise_error_status(error), error);
  const char *text = mortise_hold_id_text(id);
  check(mortise_rw_adopt(other, text, strlen(text), error), error);
  printf("adopted: writing %d\n", mortise_rw_is_writing(other));
  mortise_hold_id_free(id);
  check(mortise_rw_write_unlock(other, error), error);

  /* Writers are alone. */
  check(mortise_rw_write_acquire(rw, 5000, error), error);
  printf("another writer: %s\n",
         mortise_status_text(mortise_rw_write_try(other, error)));
  check(mortise_rw_write_unlock(rw, error), error);
  check(mortise_rw_write_acquire(rw, 5000, error), error);
  check(mortise_rw_write_unlock_hold(rw, mortise_rw_hold_number(rw),
                                     error),
        error);

  mortise_rw_free(other);
  mortise_rw_free(rw);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     table: two readers, a writer is not acquired
 *     reading 0, writing 1
 *     extended
 *     adopted: writing 1
 *     another writer: not acquired
 */
