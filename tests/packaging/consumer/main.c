/* A user's program, built outside the source tree against an installed prefix. */
#include <mortise/api.h>
#include <mortise/mortise.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "not so: %s\n", what);
    exit(1);
  }
}

int main(void) {
  const char *url = getenv("MORTISE_TEST_URL");
  expect(url != NULL, "MORTISE_TEST_URL is set");
  expect(mortise_version() == MORTISE_VERSION_NUMBER, "the library is as new as the header");
  expect(mortise_check_abi(MORTISE_VERSION_MAJOR, MORTISE_VERSION_MINOR) == MORTISE_OK,
         "the ABI is the header's");

  const mortise_api *api = mortise_get_api(MORTISE_ABI_MAJOR);
  expect(api != NULL && api->size == sizeof(struct mortise_api), "the table is whole");

  mortise_error *error = mortise_error_new();
  mortise_client *client = mortise_client_new(url, strlen(url), NULL, error);
  expect(client != NULL, mortise_error_message(error));
  mortise_lock *lock = mortise_lock_new(client, "consumer", 8, NULL, error);
  expect(lock != NULL, mortise_error_message(error));
  expect(mortise_lock_try(lock, error) == MORTISE_OK, mortise_error_message(error));
  expect(mortise_lock_token(lock) > 0, "there is a fencing token");
  expect(api->lock_unlock(lock, error) == MORTISE_OK, mortise_error_message(error));
  mortise_lock_free(lock);
  mortise_client_free(client);
  mortise_error_free(error);
  printf("%s\n", mortise_version_text());
  return 0;
}
