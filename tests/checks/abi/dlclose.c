/* A plugin host unloads the library while a client's thread runs in it, which -z nodelete has to
 * make harmless. What dlopen and the table have to offer is in tests/capi/dlopen_test.c. */
#include <dlfcn.h>
#include <mortise/api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "not so: %s\n", what);
    exit(1);
  }
}

int main(int count, char **arguments) {
  const char *url = getenv("MORTISE_TEST_URL");
  expect(url != NULL && count == 2, "MORTISE_TEST_URL is set and the library's path is given");

  void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  expect(library != NULL, "dlopen succeeds");
  const mortise_api *(*get_api)(int32_t);
  /* The way that POSIX gives from an object pointer to a function pointer. */
  *(void **)(&get_api) = dlsym(library, "mortise_get_api");
  expect(get_api != NULL, "mortise_get_api is exported");
  const mortise_api *mortise = get_api(MORTISE_ABI_MAJOR);
  expect(mortise != NULL, "there is a table of this ABI");

  mortise_error *error = mortise->error_new();
  mortise_client *client = mortise->client_new(url, strlen(url), NULL, error);
  expect(client != NULL, mortise->error_message(error));
  expect(dlclose(library) == 0, "dlclose succeeds");
  expect(mortise->client_ping(client, error) == MORTISE_OK, "the client goes on working");
  mortise->client_free(client);
  mortise->error_free(error);
  return 0;
}
