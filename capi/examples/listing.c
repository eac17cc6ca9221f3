/* Lists the holds of all clients: by asking the clients, and by
 * searching the keys. */
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

static void print(const char *title, const mortise_listing *listing) {
  printf("%s: %" PRId64 " answered, %" PRId64 " silent, %" PRId64
         " truncated\n",
         title, mortise_listing_answered(listing),
         mortise_listing_silent(listing),
         mortise_listing_truncated(listing));
  for (int64_t i = 0; i < mortise_listing_count(listing); i++) {
    printf("  %s %s: %" PRId64 " hold\n",
           mortise_listing_text(listing, i, "kind", 4),
           mortise_listing_text(listing, i, "name", 4),
           mortise_listing_number(listing, i, "holds", 5));
  }
  printf("  JSON: %.1s...\n", mortise_listing_json(listing));
}

int main(void) {
  mortise_error *error = mortise_error_new();
  mortise_client *client = mortise_client_new(NULL, 0, NULL, error);
  check(mortise_error_status(error), error);
  mortise_lock *lock =
      mortise_lock_new(client, "report", 6, NULL, error);
  check(mortise_lock_acquire(lock, 5000, error), error);

  mortise_listing *listing =
      mortise_client_list_locks(client, 2000, error);
  check(mortise_error_status(error), error);
  print("clients", listing);
  mortise_listing_free(listing);

  /* Also the holds of dead clients, which cannot answer. */
  listing =
      mortise_client_scan_locks(client, NULL, 0, 100000, 2000, error);
  check(mortise_error_status(error), error);
  print("keys", listing);
  mortise_listing_free(listing);

  mortise_lock_free(lock);
  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     clients: 1 answered, 0 silent, 0 truncated
 *       mutex report: 1 hold
 *       JSON: {...
 *     keys: 1 answered, 0 silent, 0 truncated
 *       mutex report: 1 hold
 *       JSON: {...
 */
