/* The fencing tokens of a quorum's read-write lock. Each grant's token is above those of all
   grants that were reported before its request, and no client writes while others have the lock.
   The servers are src/protocol/scripts/ballot_rw_*.lua, the clients
   src/deployment/redlock/votes/acquisition.cpp. One client reads, and another writes, or
   reads, too, by -DOTHER_READS. Each asks up to ROUNDS times. By -DUPGRADES=n the first upgrades
   up to n times during a hold. It undoes each upgrade, as a failed one or by a downgrade.

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

/* The upgrades of the first client. */
#ifndef UPGRADES
#define UPGRADES 0
#endif
byte whole[SERVERS];    /* the number of the upgrade that raised its vote; 0: it is a reader's */
byte upgrade = 0;       /* the number of the present upgrade, or of the last one */
byte undone = 0;        /* the last upgrade that was undone; a renewal lowers the votes */
byte raise = 0;         /* the proposal of the present upgrade; 0: none */
byte raised = 0;        /* the servers that raised the vote, a bit for each */
bool is_writing = false;

/* ---- a server -------------------------------------------------------------------------------- */

#define IS_ANOTHERS(client, server) (owners[server] & ~BIT(client))
/* votes.lua, excluded_by() */
#ifdef A_WRITER_SEES_NO_READERS
#define IS_EXCLUDED(client, server) ((client) != WRITER && IS_ANOTHERS(client, server))
#elif defined(A_READER_SEES_NO_WRITER)
#define IS_EXCLUDED(client, server) ((client) == WRITER && IS_ANOTHERS(client, server))
#elif defined(A_READER_SEES_NO_UPGRADE)
#define IS_EXCLUDED(client, server) (WRITER != 0 && IS_ANOTHERS(client, server))
#else
#define IS_EXCLUDED(client, server) \
  ((WRITER != 0 || ((client) != 1 && whole[server] != 0)) && IS_ANOTHERS(client, server))
#endif
/* ballot_rw_raise.lua */
#ifdef RAISED_BESIDE_READERS
#define IS_ALONE(server) true
#else
#define IS_ALONE(server) (!IS_ANOTHERS(1, server))
#endif
#ifdef RAISED_BELOW_THE_BALLOT
#define IS_ABOVE(server) true
#else
#define IS_ABOVE(server) (raise > ballot[server])
#endif
/* ballot_rw_renew.lua. Its proposal is above those of the upgrades that it undoes. */
#ifdef A_LATE_RENEWAL_LOWERS
#define IS_LOWERED(server) (undone != 0 && whole[server] != 0)
#else
#define IS_LOWERED(server) (whole[server] != 0 && whole[server] <= undone)
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
       owners[server] = owners[server] & ~BIT(client);
       if
       :: client == 1 -> whole[server] = 0
       :: else
       fi }
#if UPGRADES
  :: d_step { client == 1 && raise != 0 && upgrade > undone && whole[server] != upgrade &&
       (owners[server] & BIT(1)) && IS_ALONE(server) && IS_ABOVE(server) ->
       whole[server] = upgrade;
       raised = raised | BIT(server + 1);
       if
       :: raise > ballot[server] -> ballot[server] = raise
       :: else
       fi }
  :: d_step { client == 1 && IS_LOWERED(server) -> whole[server] = 0 }
#endif
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

/* hold.cpp, raise(); acquisition.cpp, lower() and next_request() */
#define RAISE(number)                                                                  \
  :: d_step { me == 1 && holds[1] && !is_over[1] && upgrade < UPGRADES && upgrade == undone -> \
       upgrade++; raise = number; seen[1] = last_token }
#ifdef RAISED_BY_ONE
#define TO_RAISE 1
#else
#define TO_RAISE QUORUM
#endif
inline undo() {
  undone = upgrade; raise = 0; is_writing = false;
#ifndef UNDONE_VOTES_COUNT
  raised = 0
#endif
}

inline be_given(token) {
  assert(token > seen[me]);
  assert(WRITER == 0 || !holds[3 - me]);
  assert(me == 1 || !is_writing);
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
#if UPGRADES
  RAISE(2) RAISE(3) RAISE(4)
  :: d_step { me == 1 && upgrade > undone && !is_writing && COUNT(raised) >= TO_RAISE ->
       assert(raise > seen[1]);
       assert(!holds[2]);
       if
       :: raise > last_token -> last_token = raise
       :: else
       fi;
       is_writing = true }
  :: d_step { me == 1 && upgrade > undone -> undo() }
#endif
  :: d_step { proposal[me] != 0 && !is_over[me] ->
#if UPGRADES
       if
       :: me == 1 -> undo(); raised = 0
       :: else
       fi;
#endif
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
