/* The library as a user of dlopen has it: RTLD_LOCAL, and every call through the table. */
#include "check.h"

#include <dlfcn.h>

#include "mortise/api.h"
#include "server.h"

static const mortise_api *mortise;

static void load(void) {
  const char *path = getenv("MORTISE_TEST_LIBRARY");
  void *library = dlopen(path != NULL ? path : "libmortise.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) check_failed(__FILE__, __LINE__, dlerror());
  const mortise_api *(*get)(int32_t) = NULL;
  void *symbol = dlsym(library, "mortise_get_api");
  CHECK(symbol != NULL);
  memcpy(&get, &symbol, sizeof get);
  mortise = get(MORTISE_ABI_MAJOR);
  CHECK(mortise != NULL);
  CHECK(get(MORTISE_ABI_MAJOR + 1) == NULL);
  CHECK(dlsym(NULL, "mortise_version") == NULL); /* it stayed local */
}

static void every_entry_is_filled(void) {
  CHECK(mortise->size >= sizeof(mortise_api));
  CHECK(MORTISE_API_HAS(mortise, event_is_ambiguous));
  const char *bytes = (const char *)mortise;
  for (size_t at = sizeof(size_t); at < sizeof(mortise_api); at += sizeof(void *)) {
    void *entry = NULL;
    memcpy(&entry, bytes + at, sizeof entry);
    CHECK(entry != NULL);
  }
  CHECK_NUMBER(MORTISE_VERSION_NUMBER, mortise->version());
  CHECK(strcmp(mortise->version_text(), MORTISE_VERSION_TEXT) == 0);
  CHECK(mortise->check_abi(MORTISE_ABI_MAJOR, 0) == MORTISE_OK);
  CHECK(mortise->get_api(MORTISE_ABI_MAJOR) == mortise);
}

static void a_lock_works_through_the_table(void) {
  test_server *server = server_start(NULL);
  const char *url = server_url(server);
  mortise_error *error = mortise->error_new();
  mortise_options *options = mortise->options_new();
  CHECK(mortise->options_set(options, "lease", 5, "5s", 2, error) == MORTISE_OK);
  mortise_client *client = mortise->client_new(url, strlen(url), options, error);
  if (client == NULL) check_failed(__FILE__, __LINE__, mortise->error_message(error));
  mortise_lock *lock = mortise->lock_new(client, "table", 5, NULL, error);
  mortise_queue *queue = mortise->queue_new(client, 0, error);
  mortise_event *event = mortise->event_new();
  CHECK(lock != NULL && queue != NULL && event != NULL);
  CHECK(mortise->lock_acquire_async(lock, queue, 77, 1000, error) == MORTISE_OK);
  CHECK(mortise->queue_next(queue, 10000, event, error) == MORTISE_OK);
  CHECK_NUMBER(77, mortise->event_tag(event));
  CHECK_NUMBER(1, mortise->lock_is_held(lock));
  CHECK_NUMBER(mortise->lock_token(lock), mortise->event_token(event));
  CHECK_NUMBER(1, server_number(server, "EXISTS {mortise:table}"));
  CHECK(mortise->lock_unlock(lock, error) == MORTISE_OK);
  mortise->event_free(event);
  mortise->queue_free(queue);
  mortise->lock_free(lock);
  mortise->client_free(client);
  mortise->options_free(options);
  mortise->error_free(error);
  server_free(server);
}

int main(void) {
  RUN(load);
  RUN(every_entry_is_filled);
  RUN(a_lock_works_through_the_table);
  return 0;
}
