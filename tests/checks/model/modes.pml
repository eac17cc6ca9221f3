/* The leases of a quorum's read-write lock over an upgrade and a downgrade: no client writes while
   another one reads. The servers are src/protocol/scripts/ballot_rw_*.lua, the clients
   src/deployment/redlock/votes/acquisition.cpp and src/lock/claim/hold.cpp. readers.pml has the
   proposals.

   The first client reads, renews, upgrades and downgrades. The second one reads. Time passes in
   ticks, as in leases.pml, without a difference of the clocks. A request is executed at any moment
   until its round is over, or never. The servers that execute it differ from request to request.

   Each name that `check` gives with -D breaks one rule, and Spin has to find the consequence. */

#define SERVERS 3
#define QUORUM 2
#ifndef LEASE
#define LEASE 3
#endif
#ifndef UPGRADES
#define UPGRADES 2
#endif
#define COUNT(set) (((set) & 1) + (((set) >> 1) & 1) + (((set) >> 2) & 1))
#define HAS(set, server) (((set) >> (server)) & 1)
#define WITH(set, server) ((set) | (1 << (server)))

/* A server: the rest of the time of each client's vote, and whether the first one is a writer's. */
byte ttl[SERVERS];
byte whole = 0;  /* a bit for each server */
byte other_ttl[SERVERS];

/* The first client. The rest of its lease counts from before a request was sent. */
byte left = 0;      /* of its lease; 0: it does not hold */
byte sought = 0;    /* of the lease of its take; 0: no take */
byte votes = 0;     /* the servers that voted for it */
byte renewal = 0;   /* the rest of the lease that its renewal asks for; 0: no renewal */
byte renewed = 0;   /* the servers that granted it */
byte upgrades = 0;
bool is_raising = false;
byte raised = 0;    /* the servers that raised the vote for it */
bool is_writing = false;

/* The second one. */
byte other_left = 0;
byte other_sought = 0;
byte other_votes = 0;

#define LATEST (renewal > left -> renewal : left)
#ifdef RENEWED_BY_READERS_VOTES
#define IS_OF_ITS_MODE(server) true
#else
#define IS_OF_ITS_MODE(server) (!is_writing || HAS(whole, server))
#endif

proctype server(byte me) {
end:
  do
  /* ballot_rw_take.lua, of the first client: also as a top-up, which no round counts */
  :: d_step { sought != 0 && ttl[me] == 0 && !HAS(votes, me) ->
       ttl[me] = LEASE; votes = WITH(votes, me) }
  :: d_step { left != 0 && !is_raising && ttl[me] == 0 && (!is_writing || other_ttl[me] == 0) ->
       ttl[me] = left;
       if
       :: is_writing -> whole = WITH(whole, me)
       :: else
       fi }
  /* ballot_rw_renew.lua. A writer's vote is lowered by a reader's renewal. */
  :: d_step { renewal != 0 && ttl[me] != 0 && !HAS(renewed, me) && IS_OF_ITS_MODE(me) ->
       ttl[me] = LEASE; renewed = WITH(renewed, me);
       if
       :: !is_writing && !is_raising -> whole = whole & ~(1 << me)
       :: else
       fi }
  /* ballot_rw_raise.lua */
  :: d_step { is_raising && ttl[me] != 0 && other_ttl[me] == 0 && !HAS(raised, me) ->
       whole = WITH(whole, me); raised = WITH(raised, me);
#ifndef RAISE_KEEPS_THE_LEASE
       if
       :: LATEST > ttl[me] -> ttl[me] = LATEST
       :: else
       fi
#endif
     }
  /* The vote of the second client. */
  :: d_step { other_sought != 0 && !HAS(other_votes, me) && !(ttl[me] != 0 && HAS(whole, me)) ->
       other_ttl[me] = LEASE; other_votes = WITH(other_votes, me) }
  od
}

#define LESS(rest) rest = (rest > 0 -> rest - 1 : 0)

inline end_hold() {
  is_raising = false; raised = 0; is_writing = false; renewal = 0; renewed = 0
}

proctype time() {
  byte one;
end:
  do
  :: d_step {
       left + sought + renewal + other_left + other_sought + ttl[0] + ttl[1] + ttl[2] +
         other_ttl[0] + other_ttl[1] + other_ttl[2] > 0 ->
       if
       :: left == 1 -> end_hold()
       :: else
       fi;
       LESS(left); LESS(sought); LESS(renewal); LESS(other_left); LESS(other_sought);
       if
       :: sought == 0 -> votes = 0
       :: else
       fi;
       if
       :: renewal == 0 -> renewed = 0
       :: else
       fi;
       if
       :: other_sought == 0 -> other_votes = 0
       :: else
       fi;
       one = 0;
       do
       :: one < SERVERS ->
            LESS(ttl[one]); LESS(other_ttl[one]);
            if
            :: ttl[one] == 0 -> whole = whole & ~(1 << one)
            :: else
            fi;
            one++
       :: else -> break
       od;
       one = 0 }
  od
}

proctype client() {
end:
  do
  :: d_step { left == 0 && sought == 0 && upgrades == 0 -> sought = LEASE; votes = 0 }
  :: d_step { left == 0 && sought != 0 && COUNT(votes) >= QUORUM ->
       left = sought; sought = 0; votes = 0 }
  /* hold.cpp: no renewal begins during an upgrade. One of before it may be under way. */
  :: d_step { left != 0 && renewal == 0 && !is_raising -> renewal = LEASE; renewed = 0 }
  :: d_step { left != 0 && renewal != 0 && COUNT(renewed) >= QUORUM ->
       left = LATEST; renewal = 0; renewed = 0 }
  :: d_step { left != 0 && !is_raising && !is_writing && upgrades < UPGRADES ->
       upgrades++; is_raising = true; raised = 0 }
  :: d_step { is_raising && COUNT(raised) >= QUORUM ->
       assert(other_left == 0);
       is_raising = false; raised = 0; is_writing = true; renewal = 0; renewed = 0 }
  /* It fails, and the next renewal undoes it; or a downgrade. */
  :: d_step { is_raising || is_writing ->
       is_raising = false; raised = 0; is_writing = false; renewal = 0; renewed = 0 }
  od
}

proctype other() {
end:
  do
  :: d_step { other_left == 0 && other_sought == 0 -> other_sought = LEASE; other_votes = 0 }
  :: d_step { other_left == 0 && other_sought != 0 && COUNT(other_votes) >= QUORUM ->
       assert(!is_writing);
       other_left = other_sought; other_sought = 0; other_votes = 0 }
  od
}

init {
  byte one;
  atomic {
    for (one : 0 .. SERVERS - 1) { run server(one) }
    run client();
    run other();
    run time();
    one = 0
  }
}
