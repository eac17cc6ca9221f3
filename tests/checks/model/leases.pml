/* The leases of a quorum: no two clients hold the lock at any time. The servers are
   src/protocol/scripts/ballot_*.lua and member.lua, the clients
   src/deployment/redlock/votes/acquisition.cpp, src/deployment/redlock/votes/vote_count.cpp
   and src/lock/claim/hold.cpp.

   Time passes in ticks. A lease is LEASE of them by its client's clock, and a server keeps it
   for DRIFT more. The clocks are as bad as they may be: each server's clock is ahead by DRIFT at
   the end of a lease.

   A request is executed at any moment after it was sent, or never, and after later ones. A
   client's rounds have a number each. tokens.pml models the proposals that are voted for. The
   first client extends its hold. The other one need not, because both are alike otherwise.

   Each name that `check` gives with -D breaks one rule, and Spin has to find the consequence. */

#define SERVERS 3
#define CLIENTS 2
#ifndef ROUNDS
#define ROUNDS 1 /* of each client */
#endif
#ifndef RESTARTS
#define RESTARTS 0
#endif
#ifndef LEASE
#define LEASE 2
#endif
#define DRIFT 1

/* How long a server keeps a vote of this lease (lease.hpp, server_ttl_ms()), by true time. */
#ifdef NO_DRIFT
#define KEPT_FOR(lease) ((lease) - DRIFT)
#else
#define KEPT_FOR(lease) ((lease) + DRIFT - DRIFT)
#endif
/* member.lua: as long as the longest lease is at a server, by the same clock. */
#ifdef QUARANTINE_WITHOUT_DRIFT
#define QUARANTINE (LEASE - DRIFT)
#else
#define QUARANTINE KEPT_FOR(LEASE)
#endif

/* vote_count.hpp, needed_of() */
#ifdef HALF_IS_A_QUORUM
#define QUORUM 1
#else
#define QUORUM 2
#endif
#define COUNT(set) (((set) & 1) + (((set) >> 1) & 1) + (((set) >> 2) & 1))
#define WITH(set, server) ((set) | (1 << (server)))

/* A server: the client with its vote (0: none), the round of the vote, and the rest of its time. */
byte owner[SERVERS];
byte round[SERVERS];
byte ttl[SERVERS];
byte quarantine[SERVERS]; /* the rest of its time */
byte restarts = 0;

/* A client, from 1 on. The rest of its lease counts from before a request was sent. */
byte now_in[CLIENTS + 1];    /* the number of its round; 0: none yet */
byte left[CLIENTS + 1];      /* of its lease */
bool holds[CLIENTS + 1];
bool is_over[CLIENTS + 1];   /* its round or hold; the release may still be on its way */
byte votes[CLIENTS + 1];     /* the servers that voted yes, a bit for each */
bool renews[CLIENTS + 1];    /* has asked so, in this hold */
byte renewal[CLIENTS + 1];   /* the rest of the requested lease */
byte renewed[CLIENTS + 1];   /* the servers that granted it, a bit for each */
bool is_renewed[CLIENTS + 1];

/* ---- a server -------------------------------------------------------------------------------- */

/* A vote without a time is over at once. */
inline vote(number, lease) {
  if
  :: KEPT_FOR(lease) > 0 ->
       owner[server] = client; round[server] = number; ttl[server] = KEPT_FOR(lease)
  :: else
  fi
}

inline forget(which) {
  owner[which] = 0; round[which] = 0; ttl[which] = 0
}

#ifdef RELEASE_TAKES_ANY
#define IS_RELEASED (is_over[client] || now_in[client] > 1)
#else
#define IS_RELEASED (is_over[client] || round[server] < now_in[client])
#endif
#ifdef RENEWED_FOR_ANYBODY
#define IS_RENEWED_HERE (owner[server] != 0)
#else
#define IS_RENEWED_HERE (owner[server] == client)
#endif

#define HAS_VOTE(server, client, number) (owner[server] == client && round[server] == (number))

/* One server and one client's requests to it. */
proctype wire(byte client; byte server) {
end:
  do
  /* ballot_take.lua; it is counted in vote_count.cpp. */
  :: d_step { now_in[client] != 0 && !holds[client] && quarantine[server] == 0 &&
       (owner[server] == 0 || owner[server] == client) &&
       !HAS_VOTE(server, client, now_in[client]) ->
       vote(now_in[client], LEASE);
       if
       :: !is_over[client] -> votes[client] = WITH(votes[client], server)
       :: else
       fi }
#if ROUNDS > 1
  /* The same, of the round before: no client counts it. */
  :: d_step { now_in[client] > 1 && quarantine[server] == 0 && owner[server] == 0 ->
       vote(now_in[client] - 1, LEASE) }
#endif
  /* ballot_release.lua */
  :: d_step { owner[server] == client && IS_RELEASED -> forget(server) }
  /* ballot_renew.lua, which lifts the ballot: no release of an earlier round takes it then. */
  :: d_step { renews[client] && IS_RENEWED_HERE && !(renewed[client] & (1 << server)) ->
       ttl[server] = KEPT_FOR(LEASE);
#ifndef RENEWED_FOR_ITS_ROUND
       round[server] = now_in[client];
#endif
       renewed[client] = WITH(renewed[client], server) }
  /* acquisition.cpp, top_up(): for the rest of the lease, and not counted. At any moment of a
     hold, also before a quorum has extended it. */
  :: d_step { holds[client] && quarantine[server] == 0 && owner[server] == 0 ->
#ifdef TOP_UP_LENGTHENS
       left[client] = LEASE;
#endif
       vote(now_in[client], left[client]) }
  od
}

#if RESTARTS
proctype server(byte me) {
end:
  do
  :: d_step { restarts < RESTARTS ->
       restarts++;
#ifndef NO_QUARANTINE
       quarantine[me] = QUARANTINE;
#endif
       forget(me) }
  od
}
#endif

/* ---- time ------------------------------------------------------------------------------------ */

/* The end of a hold or of a round. */
inline give_up(which) {
  holds[which] = false; is_over[which] = true; left[which] = 0; votes[which] = 0;
#ifndef RENEWED_TOO_LATE
  renews[which] = false; is_renewed[which] = false; renewed[which] = 0; renewal[which] = 0
#endif
}

inline tick(which) {
  if
  :: left[which] == 1 -> give_up(which)
  :: left[which] > 1 -> left[which]--
  :: else
  fi;
  if
  :: renewal[which] > 0 -> renewal[which]--
  :: else
  fi
}

inline tick_at(which) {
  if
  :: ttl[which] == 1 -> forget(which)
  :: ttl[which] > 1 -> ttl[which]--
  :: else
  fi;
  if
  :: quarantine[which] > 0 -> quarantine[which]--
  :: else
  fi
}

proctype time() {
end:
  do
  :: d_step {
       left[1] + left[2] + renewal[1] + renewal[2] + ttl[0] + ttl[1] + ttl[2] +
         quarantine[0] + quarantine[1] + quarantine[2] > 0 ->
       tick(1); tick(2);
       tick_at(0); tick_at(1); tick_at(2) }
  od
}

/* ---- a client -------------------------------------------------------------------------------- */

#ifdef RENEWED_BY_ONE
#define TO_RENEW 1
#else
#define TO_RENEW QUORUM
#endif
#ifdef RENEWED_TOO_LATE
#define IS_IN_TIME (holds[me] || left[me] == 0)
#else
#define IS_IN_TIME holds[me]
#endif

proctype client(byte me) {
end:
  do
  /* acquisition.cpp, next_request() */
  :: d_step { now_in[me] < ROUNDS && (now_in[me] == 0 || is_over[me]) ->
       now_in[me]++;
       left[me] = LEASE;
       is_over[me] = false;
       renews[me] = false; is_renewed[me] = false; renewed[me] = 0; renewal[me] = 0 }
  /* vote_count.cpp, decide(); hold.cpp, begin() */
  :: d_step { !holds[me] && !is_over[me] && COUNT(votes[me]) >= QUORUM ->
       assert(!holds[3 - me]);
#ifdef LEASE_FROM_THE_ANSWER
       left[me] = LEASE;
#endif
       votes[me] = 0;
       holds[me] = true }
  /* hold.cpp, renew() and on_renew_answer() */
  :: d_step { me == 1 && holds[me] && (renewal[me] == 0 || is_renewed[me]) ->
       renews[me] = true;
       renewal[me] = LEASE; renewed[me] = 0; is_renewed[me] = false }
  :: d_step { renews[me] && !is_renewed[me] && IS_IN_TIME && renewal[me] != 0 &&
       COUNT(renewed[me]) >= TO_RENEW ->
       assert(!holds[3 - me]);
#ifdef RENEWED_FROM_THE_ANSWER
       left[me] = LEASE;
#else
       left[me] = renewal[me];
#endif
       holds[me] = true; is_over[me] = false;
       is_renewed[me] = true }
  /* The hold, or the requested votes, are released at all servers. */
  :: d_step { now_in[me] != 0 && !is_over[me] ->
       give_up(me) }
  od
}

init {
  byte one, other;
  atomic {
    for (one : 1 .. CLIENTS) {
      run client(one);
      for (other : 0 .. SERVERS - 1) { run wire(one, other) }
    }
#if RESTARTS
    for (other : 0 .. SERVERS - 1) { run server(other) };
#endif
    run time();
    one = 0; other = 0
  }
}
