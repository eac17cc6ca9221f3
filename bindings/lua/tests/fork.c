/* fork() for the tests, which no Lua has by itself. */
#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int luaopen_fork(lua_State* L);

/* fork(fn) calls fn in a child process and returns the child's exit code: the result of fn, or
   100 when it raised, which it prints; -1 when a signal ended it. */
static int fork_call(lua_State* L) {
  const pid_t pid = fork();
  int status = 0;
  if (pid == 0) {
    if (lua_pcall(L, 0, 1, 0) == 0) _exit((int)lua_tointeger(L, -1));
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
    _exit(100);
  }
  if (pid < 0 || waitpid(pid, &status, 0) != pid) return luaL_error(L, "fork failed");
  lua_pushinteger(L, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  return 1;
}

int luaopen_fork(lua_State* L) {
  lua_pushcfunction(L, fork_call);
  return 1;
}
