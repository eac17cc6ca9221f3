/*
 * host THREADS SCRIPT: runs the script in so many threads at once, each in a Lua state of its own,
 * and closes the states while others still run. Each script gets its number. Exit code 1 when one
 * of them raised. With the sanitizers this is the interpreter, because Debian's has no runtime of
 * theirs.
 */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_THREADS = 64 };

struct run {
  const char* script;
  int number, has_failed;
};

static pthread_barrier_t start;

static void* run_script(void* argument) {
  struct run* run = argument;
  lua_State* L;
  pthread_barrier_wait(&start);
  L = luaL_newstate();
  luaL_openlibs(L);
  if (luaL_loadfile(L, run->script) != 0) {
    run->has_failed = 1;
  } else {
    lua_pushinteger(L, run->number);
    run->has_failed = lua_pcall(L, 1, 0, 0);
  }
  if (run->has_failed) fprintf(stderr, "state %d: %s\n", run->number, lua_tostring(L, -1));
  lua_close(L);
  return NULL;
}

int main(int count, char** arguments) {
  static struct run runs[MOST_THREADS];
  static pthread_t threads[MOST_THREADS];
  int threads_count, i, code = 0;
  if (count != 3) return 2;
  threads_count = atoi(arguments[1]);
  if (threads_count < 1 || threads_count > MOST_THREADS) return 2;
  pthread_barrier_init(&start, NULL, (unsigned)threads_count);
  for (i = 0; i < threads_count; ++i) {
    runs[i].script = arguments[2];
    runs[i].number = i + 1;
    if (pthread_create(&threads[i], NULL, run_script, &runs[i]) != 0) return 2;
  }
  for (i = 0; i < threads_count; ++i) {
    pthread_join(threads[i], NULL);
    if (runs[i].has_failed) code = 1;
  }
  return code;
}
