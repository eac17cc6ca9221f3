/* Acknowledgement by replicas over failovers (docs/acks.md): a hold counts after replicas have it,
   and so does a renewal. With `acks=all` no two clients hold, whichever replica is promoted. The
   clients are src/deployment/replication/acknowledgements.cpp and lock/gate (on_unacknowledged).

   A replica receives what its master has at any moment, in order. A master dies, or is cut off and
   still serves the clients that have not noticed. One replica is promoted then, and the others
   follow it. A replica may be down: it receives nothing, and most of the Sentinels report it, so it
   neither counts nor is promoted. A client finds the new master at any moment.

   The next failover comes after each client has found the present master. Until a client knows of a
   failover, its hold is as safe as without `acks`.

   Names with WITHOUT_ leave out a rule. The other definitions describe what `acks` does not
   promise, and Spin has to find the consequence of those, too. */

#define SERVERS 3
#define CLIENTS 2
#define LEASE 2
#ifndef ACKS
#define ACKS 9 /* all */
#endif
#ifndef FAILOVERS
#define FAILOVERS 2
#endif
#ifndef WRITES
#define WRITES 4
#endif
#define ALL 9

/* A server: the owner of the lock (0: none), the rest of its lease, how many writes it knows, and
   whose data these are (master_replid). */
byte owner[SERVERS];
byte ttl[SERVERS];
byte writes[SERVERS];
byte data_of[SERVERS];
byte follows[SERVERS];  /* its master, or itself */
bool is_down[SERVERS];  /* reported by most of the Sentinels */
bool is_dead[SERVERS];
byte master = 0;        /* the present one */
byte last_run = 1;
byte failovers = 0;
bool has_been_down = false;

/* A client, from 1 on. */
#define NOTHING 0
#define ASKED 1   /* granted by the server, not acknowledged */
#define HOLDS 2
byte phase[CLIENTS + 1];
byte at[CLIENTS + 1];       /* the server that it asks */
byte left[CLIENTS + 1];     /* of its lease */
byte asked[CLIENTS + 1];    /* the rest of the requested lease; 0: no request is open */
byte position[CLIENTS + 1]; /* the write that has to be acknowledged, and its run */
byte run_of[CLIENTS + 1];
bool in_doubt[CLIENTS + 1]; /* after a failover, until it is acknowledged again */
byte counted[CLIENTS + 1];  /* acknowledgements of waits that were added up */


/* ---- acknowledgements ------------------------------------------------------------------------ */

#define OTHER(server, by) (((server) + (by)) % SERVERS)
#define HAS_IT(replica, server, number) \
  (follows[replica] == (server) && (replica) != (server) && !is_down[replica] && \
   data_of[replica] == data_of[server] && writes[replica] >= (number))
#define COUNT_OF(server, number) \
  ((HAS_IT(OTHER(server, 1), server, number) -> 1 : 0) + \
   (HAS_IT(OTHER(server, 2), server, number) -> 1 : 0))

/* `all`: each replica that could become the master, in the eyes of this client. A master that is
   cut off with the smaller part of the Sentinels cannot know that a replica is down. */
#ifdef WITHOUT_MAJORITY_OF_SENTINELS
#define COULD_LEAD(replica, server) (!is_down[replica] && follows[replica] == (server))
#else
#define COULD_LEAD(replica, server) (!is_down[replica])
#endif
#define NEEDED_OF(server) \
  (ACKS != ALL -> ACKS : \
    (COULD_LEAD(OTHER(server, 1), server) -> 1 : 0) + \
    (COULD_LEAD(OTHER(server, 2), server) -> 1 : 0))

#ifdef WITHOUT_WAIT
#define IS_ACKNOWLEDGED true
#elif defined(WITHOUT_ORDER)
/* A wait that began before the request was answered. */
#define IS_ACKNOWLEDGED (COUNT_OF(at[me], position[me] - 1) >= NEEDED_OF(at[me]))
#elif defined(WITHOUT_WAITS_OF_THEIR_OWN)
#define IS_ACKNOWLEDGED (counted[me] >= NEEDED_OF(at[me]))
#else
#define IS_ACKNOWLEDGED (COUNT_OF(at[me], position[me]) >= NEEDED_OF(at[me]))
#endif
#ifdef WITHOUT_SAME_RUN
#define IS_SAME_RUN true
#else
#define IS_SAME_RUN (run_of[me] == data_of[at[me]])
#endif

/* ---- a client -------------------------------------------------------------------------------- */

#define IS_SERVED(client) (!is_dead[at[client]] && follows[at[client]] == at[client])
#define COUNTS(client) (phase[client] == HOLDS && !in_doubt[client])

inline give_up(which) {
  phase[which] = NOTHING; left[which] = 0; asked[which] = 0; position[which] = 0;
  run_of[which] = 0; in_doubt[which] = false; counted[which] = 0
}

/* A write of the lock at the server of this client. */
inline write(number) {
  owner[at[me]] = number;
  ttl[at[me]] = (number == 0 -> 0 : LEASE);
  writes[at[me]]++;
  position[me] = writes[at[me]]; run_of[me] = data_of[at[me]]; counted[me] = 0;
  asked[me] = (number == 0 -> 0 : LEASE)
}

proctype client(byte me) {
end:
  do
  :: d_step { phase[me] == NOTHING && IS_SERVED(me) && owner[at[me]] == 0 &&
       writes[at[me]] < WRITES ->
       write(me);
       phase[me] = ASKED }
  /* A renewal, also of a hold in doubt. */
  :: d_step { phase[me] == HOLDS && asked[me] == 0 && IS_SERVED(me) &&
       writes[at[me]] < WRITES && owner[at[me]] == me -> write(me) }
  /* The server has lost it. */
  :: d_step { phase[me] == HOLDS && IS_SERVED(me) && owner[at[me]] != me -> give_up(me) }
  /* The acknowledgement. */
#ifdef WITHOUT_WAITS_OF_THEIR_OWN
  :: d_step { asked[me] != 0 && IS_SERVED(me) && COUNT_OF(at[me], position[me]) > 0 &&
       counted[me] < 2 -> counted[me] = counted[me] + COUNT_OF(at[me], position[me]) }
#endif
  :: d_step { asked[me] != 0 && IS_SERVED(me) && IS_SAME_RUN && IS_ACKNOWLEDGED ->
       assert(!COUNTS(3 - me));
       phase[me] = HOLDS; in_doubt[me] = false;
       left[me] = (asked[me] > left[me] -> asked[me] : left[me]);
       asked[me] = 0; position[me] = 0; run_of[me] = 0; counted[me] = 0 }
#ifdef WITHOUT_ACKNOWLEDGED_RENEWALS
  :: d_step { phase[me] == HOLDS && asked[me] != 0 && !in_doubt[me] ->
       left[me] = asked[me]; asked[me] = 0; position[me] = 0; run_of[me] = 0 }
#endif
  /* The release, which nobody waits for. */
  :: d_step { phase[me] != NOTHING && IS_SERVED(me) && writes[at[me]] < WRITES ->
       if
       :: owner[at[me]] == me -> write(0)
       :: else
       fi;
       give_up(me) }
  /* It finds the new master, and repeats its request there. */
  :: d_step { at[me] != master ->
       at[me] = master;
#ifndef WITHOUT_SAME_RUN
       asked[me] = 0; position[me] = 0; run_of[me] = 0; counted[me] = 0;
       if
       :: phase[me] == ASKED -> give_up(me)
       :: else
       fi;
#endif
#ifndef WITHOUT_DOUBT
       in_doubt[me] = (phase[me] == HOLDS);
#endif
       }
  od
}

/* ---- the servers ----------------------------------------------------------------------------- */

inline receive(replica) {
  owner[replica] = owner[follows[replica]];
  ttl[replica] = ttl[follows[replica]];
  writes[replica] = writes[follows[replica]];
  data_of[replica] = data_of[follows[replica]]
}

inline promote(replica) {
  failovers++;
  last_run++;
  data_of[replica] = last_run;
  writes[replica] = 0;
  master = replica;
  for (other : 0 .. SERVERS - 1) {
    if
    :: follows[other] != other || other == replica -> follows[other] = replica
    :: else
    fi
  };
  other = 0
}

/* A hold that was acknowledged while a replica was down is not safe from the return of that
   replica, until it is renewed. */
#ifdef RETURNS_ANYTIME
#define MAY_RETURN true
#else
#define MAY_RETURN ((!COUNTS(1) || at[1] != master) && (!COUNTS(2) || at[2] != master))
#endif

/* The old master dies, or is cut off. */
#define MAY_FAIL_OVER(replica) \
  (failovers < FAILOVERS && at[1] == master && at[2] == master && \
   follows[replica] != (replica) && !is_down[replica])

proctype servers() {
  byte other;
end:
  do
  :: d_step { follows[1] != 1 && !is_down[1] && !is_dead[1] -> receive(1) }
  :: d_step { follows[2] != 2 && !is_down[2] && !is_dead[2] -> receive(2) }
  :: d_step { MAY_FAIL_OVER(1) -> is_down[master] = true; promote(1) }
  :: d_step { MAY_FAIL_OVER(2) -> is_down[master] = true; promote(2) }
  /* A master that was cut off dies. */
  :: d_step { is_down[0] && !is_dead[0] && follows[0] == 0 && master != 0 -> is_dead[0] = true }
#ifdef DOWN
  /* One replica is down for a while. When it returns, it counts for each later acknowledgement. */
  :: d_step { !has_been_down && follows[2] == 0 && master == 0 ->
       is_down[2] = true; has_been_down = true }
  :: d_step { is_down[2] && follows[2] != 2 && MAY_RETURN -> is_down[2] = false }
#endif
  od
}
/* ---- time ------------------------------------------------------------------------------------ */

inline tick(which) {
  if
  :: asked[which] > 0 -> asked[which]--
  :: else
  fi;
  if
  :: left[which] > 0 -> left[which]--
  :: else
  fi;
  if
  :: left[which] == 0 && asked[which] == 0 -> give_up(which)
  :: phase[which] == HOLDS && left[which] == 0 && asked[which] > 0 -> give_up(which)
  :: else
  fi
}

inline tick_at(which) {
  if
  :: ttl[which] == 1 -> ttl[which] = 0; owner[which] = 0
  :: ttl[which] > 1 -> ttl[which]--
  :: else
  fi
}

proctype time() {
end:
  do
  :: d_step { ttl[0] + ttl[1] + ttl[2] + left[1] + left[2] + asked[1] + asked[2] > 0 ->
       tick(1); tick(2); tick_at(0); tick_at(1); tick_at(2) }
  od
}

init {
  atomic {
    data_of[0] = 1; data_of[1] = 1; data_of[2] = 1;
    run client(1);
    run client(2);
    run servers();
    run time()
  }
}
