/* host PLUGIN OWN_VERSION PLUGINS_VERSION: a program with a Mortise of its own loads a plugin that
 * has another one. Each goes on with its own, also when the plugin is unloaded while its client
 * holds a lock. */
#include <dlfcn.h>
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

static void *find(void *plugin, const char *name) {
  void *symbol = dlsym(plugin, name);
  expect(symbol != NULL, name);
  return symbol;
}

int main(int count, char **arguments) {
  const char *url = getenv("MORTISE_TEST_URL");
  expect(url != NULL && count == 4, "there are a server and three arguments");
  /* For all to see, as careless hosts do it. */
  void *plugin = dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL);
  expect(plugin != NULL, "the plugin is loaded");
  const char *(*plugin_version)(void);
  int (*plugin_open)(const char *);
  int (*plugin_try)(void), (*plugin_unlock)(void);
  /* The way that POSIX gives from an object pointer to a function pointer. */
  *(void **)(&plugin_version) = find(plugin, "plugin_version");
  *(void **)(&plugin_open) = find(plugin, "plugin_open");
  *(void **)(&plugin_try) = find(plugin, "plugin_try");
  *(void **)(&plugin_unlock) = find(plugin, "plugin_unlock");
  expect(strcmp(mortise_version_text(), arguments[2]) == 0, "the host calls its own library");
  expect(strcmp(plugin_version(), arguments[3]) == 0, "the plugin calls its own library");

  mortise_client *client = mortise_client_new(url, strlen(url), NULL, NULL);
  expect(client != NULL && plugin_open(url), "both have a client");
  mortise_lock *lock = mortise_lock_new(client, "shared", 6, NULL, NULL);
  expect(mortise_lock_try(lock, NULL) == MORTISE_OK, "the host holds");
  expect(plugin_try() == MORTISE_NOT_ACQUIRED, "the plugin sees it");
  expect(mortise_lock_unlock(lock, NULL) == MORTISE_OK, "the host gives it back");
  expect(plugin_try() == MORTISE_OK, "the plugin holds");

  expect(dlclose(plugin) == 0, "the plugin is unloaded");
  /* Longer than the lease, so that it is renewed. */
  expect(mortise_lock_acquire(lock, 6500, NULL) == MORTISE_TIMED_OUT,
         "the plugin's thread goes on");
  expect(plugin_unlock() == MORTISE_OK, "the plugin has kept what it held");
  expect(mortise_lock_acquire(lock, 6500, NULL) == MORTISE_OK, "the host holds again");
  mortise_lock_free(lock);
  mortise_client_free(client);
  return 0;
}
