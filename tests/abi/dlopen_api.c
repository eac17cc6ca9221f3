/* The library as a plugin loads it: dlopen with RTLD_LOCAL, one symbol, the table; and dlclose while
 * the client's thread runs, which -z nodelete has to make harmless. */
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

/* No entry of a table of this version may be empty. */
static void expect_no_gap(const mortise_api *mortise) {
  const unsigned char *bytes = (const unsigned char *)mortise;
  for (size_t at = sizeof(size_t); at < mortise->size; at += sizeof(void (*)(void))) {
    void (*entry)(void);
    memcpy(&entry, bytes + at, sizeof entry);
    expect(entry != NULL, "every entry is filled");
  }
}

static void hold_and_release(const mortise_api *mortise, const char *url) {
  mortise_error *error = mortise->error_new();
  mortise_client *client = mortise->client_new(url, strlen(url), NULL, error);
  expect(client != NULL, mortise->error_message(error));
  mortise_lock *lock = mortise->lock_new(client, "dlopen", 6, NULL, error);
  expect(lock != NULL, mortise->error_message(error));
  expect(mortise->lock_acquire(lock, 5000, error) == MORTISE_OK, mortise->error_message(error));
  expect(mortise->lock_is_held(lock) == 1, "the lock is held");
  expect(mortise->lock_token(lock) > 0, "there is a fencing token");
  expect(mortise->lock_unlock(lock, error) == MORTISE_OK, mortise->error_message(error));
  mortise->lock_free(lock);
  mortise->client_free(client);
  mortise->error_free(error);
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

  expect(get_api(MORTISE_ABI_MAJOR + 1) == NULL, "there is no table of another ABI");
  const mortise_api *mortise = get_api(MORTISE_ABI_MAJOR);
  expect(mortise != NULL, "there is a table of this ABI");
  expect(mortise->size == sizeof(struct mortise_api), "the table is whole");
  expect(MORTISE_API_HAS(mortise, event_is_ambiguous), "the table has its last entry");
  expect(mortise->version() == MORTISE_VERSION_NUMBER, "the version is the header's");
  expect_no_gap(mortise);
  hold_and_release(mortise, url);

  mortise_client *client = mortise->client_new(url, strlen(url), NULL, NULL);
  expect(client != NULL, "a second client opens");
  expect(dlclose(library) == 0, "dlclose succeeds");
  expect(mortise->client_ping(client, NULL) == MORTISE_OK, "the code is still there");
  mortise->client_free(client);
  return 0;
}
