/* The fencing tokens of a quorum's read-write lock. Each grant's token is above those of all
   grants that were reported before its request, and no client writes while others have the lock.
   The servers are src/protocol/scripts/ballot_rw_*.lua, the clients
   src/deployment/redlock/votes/acquisition.cpp. One client reads, and another writes, or
   reads, too, by -DOTHER_READS. Each asks up to ROUNDS times.

   The network and time are those of tokens.pml: a request is executed at any moment after it was
   sent, or never, and a vote is kept while its client counts on it.

   Each name that `check` gives with -D breaks one rule, and Spin has to find the consequence. */

#define SERVERS 3
#define CLIENTS 2
#ifdef OTHER_READS
#define WRITER 0
#else
#define WRITER 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define QUORUM 2
#define COUNT(set) (((set) & 1) + (((set) >> 1) & 1) + (((set) >> 2) & 1))
#define BIT(number) (1 << ((number) - 1))

/* A server: the clients with its vote, a bit for each, and the highest proposal. */
byte owners[SERVERS];
byte ballot[SERVERS];

/* A client, from 1 on. */
byte rounds[CLIENTS + 1];
byte proposal[CLIENTS + 1];  /* 0: none yet */
byte votes[CLIENTS + 1];     /* the servers that voted yes, a bit for each */
byte known[CLIENTS + 1];      /* the highest proposal that they knew */
byte second[CLIENTS + 1];    /* a reader that is outdone proposes this; 0: it does not */
byte confirmed[CLIENTS + 1]; /* which servers know that */
bool is_over[CLIENTS + 1];
bool holds[CLIENTS + 1];
byte seen[CLIENTS + 1];      /* the highest token that was granted before it asked */
byte last_token = 0;

/* ---- a server -------------------------------------------------------------------------------- */

#define IS_ANOTHERS(client, server) (owners[server] & ~BIT(client))
/* votes.lua, excluded_by() */
#ifdef A_WRITER_SEES_NO_READERS
#define IS_EXCLUDED(client, server) ((client) != WRITER && IS_ANOTHERS(client, server))
#elif defined(A_READER_SEES_NO_WRITER)
#define IS_EXCLUDED(client, server) ((client) == WRITER && IS_ANOTHERS(client, server))
#else
#define IS_EXCLUDED(client, server) (WRITER != 0 && IS_ANOTHERS(client, server))
#endif
#ifdef A_WRITER_IS_OUTDONE
#define IS_LOW(client, server) false
#else
#define IS_LOW(client, server) ((client) == WRITER && proposal[client] <= ballot[server])
#endif

inline know(number) {
  owners[server] = owners[server] | BIT(client);
  if
  :: number > ballot[server] -> ballot[server] = number
  :: else
  fi
}

/* One server and one client's requests to it. */
proctype wire(byte client; byte server) {
end:
  do
  /* ballot_rw_take.lua; also when the vote is no longer counted. */
  :: d_step { proposal[client] != 0 && !(votes[client] & BIT(server + 1)) &&
       !IS_EXCLUDED(client, server) && !IS_LOW(client, server) ->
       if
       :: !is_over[client] && second[client] == 0 ->
            votes[client] = votes[client] | BIT(server + 1);
            if
            :: ballot[server] > known[client] -> known[client] = ballot[server]
            :: else
            fi
       :: else
       fi;
       know(proposal[client]) }
  /* The same, for the second proposal. */
  :: d_step { second[client] != 0 && !is_over[client] && !(confirmed[client] & BIT(server + 1)) &&
       !IS_EXCLUDED(client, server) ->
       confirmed[client] = confirmed[client] | BIT(server + 1);
       know(second[client]) }
  /* ballot_rw_release.lua, or the end of the lease */
  :: d_step { is_over[client] && (owners[server] & BIT(client)) ->
       owners[server] = owners[server] & ~BIT(client) }
  od
}

/* ---- a client -------------------------------------------------------------------------------- */

/* Whichever number, as no clock decides it. */
#define ROUND(number)                                                                  \
  :: d_step { rounds[me] < ROUNDS && (rounds[me] == 0 || is_over[me]) ->           \
       rounds[me]++; proposal[me] = number;                                            \
       is_over[me] = false; seen[me] = last_token }

#ifdef CONFIRMED_BELOW_THE_HIGHEST
#define IS_ABOVE_ALL(number) ((number) > proposal[me])
#else
#define IS_ABOVE_ALL(number) ((number) > known[me])
#endif
/* acquisition.cpp, decide() and propose_again() */
#define SECOND(number)                                                                   \
  :: d_step { me != WRITER && !holds[me] && !is_over[me] && second[me] == 0 &&           \
       COUNT(votes[me]) >= QUORUM && known[me] >= proposal[me] && IS_ABOVE_ALL(number) ->  \
       second[me] = number }
#ifdef CONFIRMED_BY_ONE
#define TO_CONFIRM 1
#else
#define TO_CONFIRM QUORUM
#endif
#ifdef NOT_CONFIRMED
#define IS_DONE true
#elif defined(CONFIRMED_IF_BELOW)
#define IS_DONE (me == WRITER || known[me] <= proposal[me])
#else
#define IS_DONE (me == WRITER || known[me] < proposal[me])
#endif

inline be_given(token) {
  assert(token > seen[me]);
  assert(WRITER == 0 || !holds[3 - me]);
  if
  :: token > last_token -> last_token = token
  :: else
  fi;
  holds[me] = true
}

proctype client(byte me) {
end:
  do
  ROUND(1) ROUND(2) ROUND(3) ROUND(4)
  SECOND(2) SECOND(3) SECOND(4)
  :: d_step { !holds[me] && !is_over[me] && second[me] == 0 && IS_DONE &&
       COUNT(votes[me]) >= QUORUM -> be_given(proposal[me]) }
  :: d_step { !holds[me] && !is_over[me] && COUNT(confirmed[me]) >= TO_CONFIRM ->
       be_given(second[me]) }
  :: d_step { proposal[me] != 0 && !is_over[me] ->
       is_over[me] = true; holds[me] = false;
       votes[me] = 0; known[me] = 0; second[me] = 0; confirmed[me] = 0; seen[me] = 0 }
  od
}

init {
  byte one, other;
  atomic {
    for (one : 1 .. CLIENTS) {
      run client(one);
      for (other : 0 .. SERVERS - 1) { run wire(one, other) }
    }
    one = 0; other = 0
  }
}
