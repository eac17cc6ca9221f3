/* A slot of a cluster that moves key by key (docs/cluster.md, "When a slot moves"; hazard 29). No
   two clients hold, tokens rise, and no hold is lost whose client renews it in time.

   The old server leaves a key out once it has moved (ASK), refuses a command of which it has only
   some keys (TRYAGAIN), and refuses the slot after the move (MOVED). The new server takes a command
   before the end of the move only after ASKING, and only if it has all keys or there is one. A key
   moves at once, with the rest of its TTL. That is how Redis and Valkey treat a slot.

   A client asks whichever server it takes for the owner, also a wrong one. It follows ASK with a
   command of one key: a renewal, and a release without waiters. It repeats all others later. That
   is src/deployment/cluster/cluster_slot.cpp, is_forwarded().

   Names with WITHOUT_ leave out a rule of a server or of a client. The other definitions describe
   what is not promised, and Spin has to find the consequence of those, too. */

#define CLIENTS 2
#define OLD 0
#define NEW 1
#ifndef LEASE
#define LEASE 2
#endif
#ifndef TOKENS
#define TOKENS 6
#endif

/* The keys of each server: the lock with its owner (0: no key) and its TTL, and the counter. */
byte owner[2];
byte ttl[2];
byte fence[2];          /* 0: no key */
/* The move. */
#define BEFORE 0
#define MOVING 1
#define AFTER 2
byte move = BEFORE;
bool is_copied = false; /* the lock's key is at the new server, and still at the old one */

/* A client, from 1 on. */
byte left[CLIENTS + 1]; /* of its lease; 0: it does not hold */
bool has_asked[CLIENTS + 1]; /* for a renewal, in this tick */
byte last_token = 0;

/* The answer of a server. */
#define SERVED 0
#define ASK 1
#define TRYAGAIN 2
#define MOVED 3
hidden byte found;
hidden byte missing;

#ifdef WITHOUT_MOVED
#define IS_OWNER(server) ((server) == OLD || move == AFTER)
#else
#define IS_OWNER(server) ((server) == (move == AFTER -> NEW : OLD))
#endif
#ifdef WITHOUT_TRYAGAIN
#define OF_MORE_KEYS SERVED
#else
#define OF_MORE_KEYS TRYAGAIN
#endif

/* getNodeByQuery() of Redis, for a command with the lock's key and perhaps the counter. */
inline route(server, with_fence, is_asking) {
  missing = (owner[server] == 0 -> 1 : 0) + (with_fence && fence[server] == 0 -> 1 : 0);
  if
  :: IS_OWNER(server) && (move != MOVING || missing == 0) -> found = SERVED
  :: IS_OWNER(server) && move == MOVING && missing > 0 ->
       found = (missing == 1 + with_fence -> ASK : OF_MORE_KEYS)
  :: !IS_OWNER(server) && move == MOVING && is_asking ->
       found = (with_fence && missing > 0 -> OF_MORE_KEYS : SERVED)
  :: else -> found = MOVED
  fi
}

/* ---- a client -------------------------------------------------------------------------------- */

inline begin(token) {
  assert(left[3 - me] == 0);
  assert(token > last_token);
  last_token = token;
  left[me] = LEASE; has_asked[me] = false
}

/* queued_acquire.lua and SET NX with INCR: two keys, so the client never follows an ASK. */
inline take(server) {
  route(server, 1, false);
  if
  :: found == SERVED && owner[server] == 0 ->
       owner[server] = me; ttl[server] = LEASE;
       fence[server]++;
       begin(fence[server])
  :: else
  fi
}

inline renew_at(server) {
  if
  :: owner[server] == me -> ttl[server] = LEASE; left[me] = LEASE
  :: else
  fi
}

inline release_at(server) {
  if
  :: owner[server] == me -> owner[server] = 0; ttl[server] = 0
  :: else
  fi
}

/* A command of one key at this server, or at the one that an ASK names. */
#if defined(WITHOUT_FOLLOWING) || defined(ACKS)
#define IS_FOLLOWED false
#else
#define IS_FOLLOWED (found == ASK)
#endif

inline renew(server) {
  route(server, 0, false);
  if
  :: found == SERVED -> renew_at(server)
  :: found != SERVED && IS_FOLLOWED ->
       route(NEW, 0, true);
       if
       :: found == SERVED -> renew_at(NEW)
       :: else
       fi
  :: else
  fi
}

inline release(server) {
  route(server, 0, false);
  left[me] = 0; has_asked[me] = false;
  if
  :: found == SERVED -> release_at(server)
  :: found != SERVED && IS_FOLLOWED ->
       route(NEW, 0, true);
       if
       :: found == SERVED -> release_at(NEW)
       :: else
       fi
  :: else
  fi
}

proctype client(byte me) {
end:
  do
  :: d_step { left[me] == 0 && fence[OLD] + fence[NEW] < TOKENS -> take(OLD) }
  :: d_step { left[me] == 0 && fence[OLD] + fence[NEW] < TOKENS -> take(NEW) }
  /* A renewal goes to the owner: on MOVED it is sent again. */
  :: d_step { left[me] > 0 && !has_asked[me] ->
       has_asked[me] = true;
       if
       :: move == AFTER -> renew(NEW)
       :: else -> renew(OLD)
       fi }
  :: d_step { left[me] > 0 -> release(OLD) }
  :: d_step { left[me] > 0 -> release(NEW) }
  od
}

/* ---- the move -------------------------------------------------------------------------------- */

inline copy_lock() {
  owner[NEW] = owner[OLD]; ttl[NEW] = ttl[OLD]
}

inline delete_lock() {
  owner[OLD] = 0; ttl[OLD] = 0
}

proctype mover() {
end:
  do
  :: d_step { move == BEFORE -> move = MOVING }
#ifdef WITHOUT_ATOMIC_MOVE
  :: d_step { move == MOVING && owner[OLD] != 0 && !is_copied -> copy_lock(); is_copied = true }
  :: d_step { move == MOVING && is_copied -> delete_lock(); is_copied = false }
#else
  :: d_step { move == MOVING && owner[OLD] != 0 -> copy_lock(); delete_lock() }
#endif
#ifdef WITHOUT_COUNTER_OF_THE_SLOT
  :: d_step { move == MOVING && owner[OLD] == 0 -> move = AFTER }
#else
  :: d_step { move == MOVING && fence[OLD] != 0 -> fence[NEW] = fence[OLD]; fence[OLD] = 0 }
  :: d_step { move == MOVING && owner[OLD] == 0 && fence[OLD] == 0 -> move = AFTER }
#endif
#ifdef ABORTED
  /* The slot stays with the old server, and the keys that have moved do not. */
  :: d_step { move == MOVING -> move = BEFORE }
#endif
  od
}

/* ---- time ------------------------------------------------------------------------------------ */

inline tick(which) {
  has_asked[which] = false;
  if
  :: left[which] == 1 ->
       assert(false); /* a hold is lost whose client renews it in time */
       left[which] = 0
  :: left[which] > 1 -> left[which]--
  :: else
  fi
}

inline tick_at(server) {
  if
  :: ttl[server] == 1 -> ttl[server] = 0; owner[server] = 0
  :: ttl[server] > 1 -> ttl[server]--
  :: else
  fi
}

/* Each holder asks for a renewal once in a tick. */
proctype time() {
end:
  do
  :: d_step { left[1] + left[2] + ttl[OLD] + ttl[NEW] > 0 &&
       (left[1] == 0 || has_asked[1]) && (left[2] == 0 || has_asked[2]) ->
       tick_at(OLD); tick_at(NEW);
       tick(1); tick(2) }
  od
}

init {
  atomic {
    fence[OLD] = 1;
    run client(1);
    run client(2);
    run mover();
    run time()
  }
}
