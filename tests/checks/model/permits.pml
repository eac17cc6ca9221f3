/* The permits of a semaphore at a quorum, as if each server counted the permits that it has given.
   With votes of a majority more clients hold than there are permits, without any fault: at three
   servers with two permits, the votes of {1, 2}, {1, 3} and {2, 3} are three holds.

   N servers give at most N * PERMITS votes. One hold too many needs (PERMITS + 1) * NEEDED of them.
   So a hold needs N - ceil(N / (PERMITS + 1)) + 1 votes: at three servers all, at five servers four
   of them for two or three permits, and then all. With an odd number of servers and two permits a
   majority is never enough. So a semaphore is not available while a majority is, and `redlock:` has
   none.

   Each client asks each server once, for one permit. There are no leases, no restarts and no lost
   messages: the error needs none of them. NEEDED is the number of votes of a hold. */

#ifndef SERVERS
#define SERVERS 3
#endif
#ifndef PERMITS
#define PERMITS 2
#endif
#ifndef NEEDED
#define NEEDED 2
#endif
#define CLIENTS (PERMITS + 1)

byte given[SERVERS];
byte votes[CLIENTS];
byte holders = 0;

/* One client's request to one server, at any moment. */
proctype wire(byte client; byte server) {
end:
  d_step { given[server] < PERMITS -> given[server]++; votes[client]++ }
}

proctype client(byte me) {
end:
  d_step { votes[me] >= NEEDED ->
       holders++;
       assert(holders <= PERMITS) }
}

init {
  byte one, other;
  atomic {
    for (one : 0 .. CLIENTS - 1) {
      run client(one);
      for (other : 0 .. SERVERS - 1) { run wire(one, other) }
    }
    one = 0; other = 0
  }
}
