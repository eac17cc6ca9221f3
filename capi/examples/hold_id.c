/* Exports the hold of a mutex, and continues it with another handle, as
 * another process or host would. */
#include <inttypes.h>
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
  mortise_lock *exporter =
      mortise_lock_new(client, "report", 6, NULL, error);
  mortise_lock *adopter =
      mortise_lock_new(client, "report", 6, NULL, error);
  check(mortise_error_status(error), error);
  check(mortise_lock_acquire(exporter, 5000, error), error);

  mortise_hold_id *exported =
      mortise_lock_export(exporter, 60000, error);
  check(mortise_error_status(error), error);
  const char *text = mortise_hold_id_text(exported);

  /* Elsewhere, with the text. */
  mortise_hold_id *id = mortise_hold_id_new(text, strlen(text), error);
  check(mortise_error_status(error), error);
  size_t name_len = 0;
  const char *name = mortise_hold_id_name(id, &name_len);
  printf("%s \"%.*s\", exclusive %" PRId32 ", capacity %" PRId64 "\n",
         mortise_hold_id_kind(id), (int)name_len, name,
         mortise_hold_id_is_exclusive(id),
         mortise_hold_id_capacity(id));
  if (mortise_hold_id_valid_until_ms(id) <= 0) return 1;
  check(mortise_lock_adopt(adopter, text, strlen(text), error), error);
  printf("adopter %" PRId32 ", exporter %" PRId32 "\n",
         mortise_lock_is_held(adopter), mortise_lock_is_held(exporter));
  puts(mortise_status_text(
      mortise_lock_adopt(exporter, text, strlen(text), error)));
  check(mortise_lock_unlock(adopter, error), error);

  mortise_hold_id_free(id);
  mortise_hold_id_free(exported);
  mortise_lock_free(adopter);
  mortise_lock_free(exporter);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     mutex "report", exclusive 1, capacity 0
 *     adopter 1, exporter 0
 *     not the owner
 */
