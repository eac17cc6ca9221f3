/* readers <name> <count>: reads it with so many handles of one client, until SIGTERM. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mortise/mortise.h"

int main(int count, char** arguments) {
  const char* url = getenv("MORTISE_URL");
  if (count != 3 || url == NULL) return 64;
  /* Before the client's thread begins, which would take the signal. */
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigprocmask(SIG_BLOCK, &ends, NULL);
  mortise_client* client = mortise_client_new(url, strlen(url), NULL, NULL);
  for (int left = atoi(arguments[2]); left > 0; --left) {
    mortise_rw* rw = mortise_rw_new(client, arguments[1], strlen(arguments[1]), NULL, NULL);
    if (mortise_rw_read_acquire(rw, 10000, NULL) != MORTISE_OK) return 1;
  }
  puts("reading");
  fflush(stdout);
  int which = 0;
  sigwait(&ends, &which);
  mortise_client_free(client);
  return 0;
}
