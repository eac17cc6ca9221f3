/* Opens a client with the URL in MORTISE_URL, checks its server, and
 * changes its password. */
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
  check(mortise_client_ping(client, error), error);
  puts("the server answers");

  /* Unless this succeeds, the old password stays in force. */
  mortise_status status = mortise_client_set_credentials(
      client, "nobody", 6, "wrong", 5, error);
  printf("new password: %s\n", mortise_status_text(status));
  check(mortise_client_ping(client, error), error);

  mortise_client_free(client);
  mortise_error_free(error);
  return 0;
}

/*
 * Output:
 *
 *     the server answers
 *     new password: refused by the server
 */
