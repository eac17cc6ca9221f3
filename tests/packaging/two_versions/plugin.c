/* A plugin with a Mortise of its own, of which its host knows nothing. */
#include <mortise/mortise.h>
#include <string.h>

const char *plugin_version(void);
int plugin_open(const char *url);
int plugin_try(void);
int plugin_unlock(void);

static mortise_client *client;
static mortise_lock *lock;

const char *plugin_version(void) { return mortise_version_text(); }

/* 1: there is a client, whose holds have a lease of 5 s. */
int plugin_open(const char *url) {
  mortise_options *options = mortise_options_new();
  mortise_options_set_lease_ms(options, 5000, NULL);
  client = mortise_client_new(url, strlen(url), options, NULL);
  mortise_options_free(options);
  lock = client == NULL ? NULL : mortise_lock_new(client, "shared", 6, NULL, NULL);
  return lock != NULL;
}

int plugin_try(void) { return mortise_lock_try(lock, NULL); }

/* The client stays: this host unloads its plugins without a word. */
int plugin_unlock(void) { return mortise_lock_unlock(lock, NULL); }
