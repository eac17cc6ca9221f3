/* The interface of tests in C and C++ to tests/support/server, tests/support/proxy and
   twemproxy. */
#ifndef MORTISE_TESTS_LAUNCHER_H
#define MORTISE_TESTS_LAUNCHER_H

#include <stdbool.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct launcher {
  pid_t pid;
  int fd;
  /* Its own, in which is the socket, redis.sock or proxy.sock. */
  char folder[80];
  /* On 127.0.0.1; 0 without one. */
  int port;
};

/*
 * Starts the program, "server", "proxy" or "twemproxy", with these arguments, a list that ends in
 * NULL. Afterwards it accepts connections. If this fails, the program has printed the reason on
 * stderr.
 */
bool launcher_open(struct launcher* launcher, const char* program, const char* const* arguments);
/* One of the commands that the program's first lines name; it is done. */
bool launcher_tell(const struct launcher* launcher, const char* command);
/* Its children and its folder are removed. */
void launcher_close(struct launcher* launcher);

#ifdef __cplusplus
}
#endif

#endif
