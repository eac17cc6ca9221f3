/* One `queued` lock at one server: the scripts (queued_rules.pml) with clients as in
   src/lock/claim/{attempt,hold,release_phase}.cpp and src/lock/queue/retention.hpp.

   Within the leases there are never two holders, and tokens rise. A holder that is not dead loses
   nothing before its deadline. A live waiter keeps its place over a restart of the server. While
   a live waiter waits and nobody holds, at most BOUND ticks pass without a fault. ORDER also
   claims that no newcomer is served before a waiter, in runs without faults.

   A client is any process with one handle. Its request is executed at any moment after it was
   sent, and the reply is read at any moment after that. A message may be lost. A client may be
   paused at any moment and resume at any other, or die. Its connection may break: the request on
   it is then executed or not, at any moment until the next connection kills the old one. The
   server may restart with its data. The numbers of these faults are bounded.

   Time passes in ticks. No healthy client lets a tick pass with something left to do.

   Three simplifications: a client has one open request, a hold has one owner, and all clocks run
   at the same rate (leases.pml has the drift). */

#ifndef CLIENTS
#define CLIENTS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2 /* acquisitions that each client tries */
#endif
#ifndef PAUSES
#define PAUSES 0
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#ifndef BREAKS
#define BREAKS 0
#endif
#ifndef RESTARTS
#define RESTARTS 0
#endif
#ifndef RETAIN
#define RETAIN 0 /* whether an unlock may keep the claim */
#endif
#ifndef PASSES
#define PASSES 1 /* acquires that take up a retained claim */
#endif
#ifndef LOSSES
#define LOSSES 0 /* whether messages may be lost */
#endif

/* In ticks. The order of these times is that of the library: GRANT is above CHECK, so that a waiter
   finds its grant without a message, and TURN is at least CHECK for the head. */
#ifndef LEASE
#define LEASE 3
#endif
#define GRANT 2
#define CHECK_EVERY 1
#define QUEUE_TURN 1
#define CHANGED 2
#define CUT_OFF 1
#define QUEUE_LIFE 5
#define GRACE 10
#define OVER 1
#define HALF_OF_LEASE (LEASE / 2)
#ifndef BOUND
#define BOUND 5
#endif

#define TIME byte
#define OWNER byte
#define TOKEN byte
#define QUEUE (CLIENTS * 2)
#define NO_LEASE 0
#define LEAST_TTL 0
/* A queue does not expire here, because its waiters look every tick. */
#define QUEUE_AGES (queue_left > GRACE)

#ifdef WITHOUT_NEW_OWNER_TOKEN
#define OWNER_OF(client, round) ((client) + 1)
#else
#define OWNER_OF(client, round) ((round) * CLIENTS + (client) + 1)
#endif
#define CLIENT_OF(number) (((number) - 1) % CLIENTS)
#define GRANT_OF(number) GRANT

/* The phase of a client. */
#define RESTING 0
#define WAITING 1
#define HOLDING 2
#define RETAINING 3
#define RELEASING 4
/* Its open request. */
#define NOTHING 0
#define TRY 1
#define ENQUEUE 2
#define CHECK 3
#define RENEW 4
#define RELEASE 5
#define RELEASE_ALONE 6
#define CANCEL 7
#define DRAW 8 /* a renewal that also draws a token for a pass */

byte phase[CLIENTS];
byte round[CLIENTS];          /* the number of its attempt */
bool is_alive[CLIENTS];
bool is_paused[CLIENTS];
bool is_up[CLIENTS];          /* its connection */
bool is_cut[CLIENTS];         /* and not because of a restart */
byte request[CLIENTS];
bool is_answered[CLIENTS];    /* the reply is on its way */
byte age[CLIENTS];            /* of the request */
byte answer_of[CLIENTS];
byte answer_token[CLIENTS];
bool answer_others[CLIENTS];
byte ghost[CLIENTS];          /* a request on an old connection */
byte ghost_owner[CLIENTS];
byte grant_age[CLIENTS];      /* the message of a grant; 0: none, otherwise 1 more */
byte grant_token[CLIENTS];
bool is_wanted[CLIENTS];      /* the message W, on its way */
byte left[CLIENTS];           /* of the lease, as the client knows */
byte spare[CLIENTS];          /* a token for a pass; 0: none */
byte check_in[CLIENTS];
bool others[CLIENTS];         /* the client knows of waiters */
bool may_queue[CLIENTS];      /* a check that a message has overtaken may have enqueued it */

byte last_token = 0;
byte passes = 0, pauses = 0, deaths = 0, breaks = 0, restarts = 0;
byte idle = 0;                /* ticks in which a live waiter waits and nobody holds */

#define ME(client) OWNER_OF(client, round[client])
/* The server's clock is above all tokens that were ever drawn. */
#define CLOCK highest_fence
byte highest_fence = 0;

/* A message to the claim that the client has now. For others its registry has no use. */
#define IS_ITS_CLAIM(to) ((to) == ME(CLIENT_OF(to)))
inline send_grant(to, number) {
  if
  :: IS_ITS_CLAIM(to) && phase[CLIENT_OF(to)] == WAITING ->
       grant_age[CLIENT_OF(to)] = 1; grant_token[CLIENT_OF(to)] = number
  :: else
  fi
}
inline send_wanted(to) {
  if
  :: IS_ITS_CLAIM(to) && has_subscriber[CLIENT_OF(to)] -> is_wanted[CLIENT_OF(to)] = true
  :: else
  fi
}
/* The waiters look each tick anyway. */
inline send_place(to, lease) { skip }

/* No waiter is removed that only a restart of the server has made unreachable. */
inline note_removal(gone) {
  assert(!(is_alive[CLIENT_OF(gone)] && !is_paused[CLIENT_OF(gone)] && !is_cut[CLIENT_OF(gone)] &&
    phase[CLIENT_OF(gone)] == WAITING && gone == ME(CLIENT_OF(gone))))
}

#include "queued_rules.pml"

/* ---- requests -------------------------------------------------------------------------------- */

#define HOLDS(client) (is_alive[client] && phase[client] == HOLDING)
#define IS_WELL(client) (is_alive[client] && is_up[client] && !is_paused[client])

/* No newcomer is granted the lock while others wait. */
#ifdef ORDER
#define IS_IN_ORDER (reply != GRANTED || was_waiting == 0)
#else
#define IS_IN_ORDER true
#endif
hidden byte was_waiting;

inline execute(what, by) {
  was_waiting = waiting;
  if
  :: what == TRY -> take_free(by, LEASE); assert(IS_IN_ORDER)
  :: what == ENQUEUE -> acquire(by, LEASE, FIRST_TIME); assert(IS_IN_ORDER)
  :: what == CHECK -> acquire(by, LEASE, ONCE_MORE)
  :: what == RENEW -> renew(by, LEASE, 0)
  :: what == DRAW -> renew(by, LEASE, 1)
  :: what == RELEASE -> release(by)
  :: what == RELEASE_ALONE -> release_alone(by)
  :: what == CANCEL -> cancel(by)
  fi
}

inline send(what) {
  request[me] = what; is_answered[me] = false; age[me] = 0
}

inline forget_request(which) {
  request[which] = NOTHING; is_answered[which] = false; age[which] = 0; answer_of[which] = NO_REPLY;
  answer_token[which] = 0; answer_others[which] = false
}

inline forget_messages(which) {
  grant_age[which] = 0; grant_token[which] = 0; is_wanted[which] = false
}

inline rest(which) {
  phase[which] = RESTING; left[which] = 0; spare[which] = 0; check_in[which] = 0;
  others[which] = false; may_queue[which] = false;
  forget_messages(which)
}

/* ---- the holds of a client ------------------------------------------------------------------- */

inline forget_grant() {
  grant_age[me] = 0; grant_token[me] = 0
}

inline begin(lease, token) {
#ifndef MAY_OVERLAP
  assert(!HOLDS((me + 1) % CLIENTS) && !HOLDS((me + CLIENTS - 1) % CLIENTS));
#endif
  assert(token > last_token);
  last_token = token;
  phase[me] = HOLDING; left[me] = lease; check_in[me] = 0;
  forget_grant();
  idle = 0
}

/* claim.cpp, release() */
inline give_back() {
  phase[me] = RELEASING; left[me] = 0; spare[me] = 0; check_in[me] = 0;
  send((may_queue[me] -> CANCEL : (others[me] -> RELEASE : RELEASE_ALONE)));
  forget_messages(me)
}

#ifdef WITHOUT_AGE_OF_REQUEST
#define LEASE_OF_REPLY LEASE
#else
#define LEASE_OF_REPLY (age[me] < LEASE -> LEASE - age[me] : 0)
#endif

/* attempt.cpp, on_answer(); hold.cpp, begin(): a late reply is no grant. */
inline read_as_waiter() {
  if
  :: answer_of[me] == GRANTED && LEASE_OF_REPLY > 0 ->
       others[me] = answer_others[me];
       begin(LEASE_OF_REPLY, answer_token[me]);
       forget_request(me)
  :: answer_of[me] == GRANTED && LEASE_OF_REPLY == 0 ->
       rest(me);
       forget_request(me)
  :: answer_of[me] == NOT_FREE ->
       forget_request(me);
       send(ENQUEUE)
  :: answer_of[me] == QUEUED ->
       check_in[me] = CHECK_EVERY;
       forget_request(me)
  fi
}

#ifdef LOSES_DATA
#define DATA_IS_LOST (restarts > 0)
#else
#define DATA_IS_LOST false
#endif
#define IS_RENEWAL (request[me] == RENEW || request[me] == DRAW)
/* hold.cpp, on_renew_answer() and on_late_check() */
inline read_as_holder() {
  if
  :: IS_RENEWAL && answer_of[me] == GRANTED ->
       left[me] = (LEASE_OF_REPLY > left[me] -> LEASE_OF_REPLY : left[me]);
       spare[me] = (request[me] == DRAW -> answer_token[me] : spare[me]);
       others[me] = others[me] || answer_others[me]
  :: IS_RENEWAL && answer_of[me] == NOT_OWNER ->
       assert(DATA_IS_LOST);
       rest(me)
  :: !IS_RENEWAL && answer_of[me] == QUEUED -> may_queue[me] = true
  :: else
  fi;
  forget_request(me)
}

/* release_phase.cpp */
inline read_as_releaser() {
  if
  :: answer_of[me] == HAS_WAITERS ->
       forget_request(me);
       send(RELEASE)
  :: else ->
       rest(me);
       forget_request(me)
  fi
}

#ifdef WITHOUT_AGE_OF_GRANT
#define AGE_OF_GRANT 0
#else
#define AGE_OF_GRANT (grant_age[me] - 1)
#endif
#ifdef WITHOUT_CONFIRMATION
#define LEASE_OF_GRANT LEASE
#else
#define LEASE_OF_GRANT GRANT
#endif

/* Only a waiter pauses whose grant may be on its way. */
#ifdef WAITERS_PAUSE
#define MAY_PAUSE(client) (phase[client] == WAITING && request[client] == NOTHING)
#else
#define MAY_PAUSE(client) true
#endif
#define MAY_ACT(client) (is_alive[client] && !is_paused[client] && is_up[client])

proctype client(byte me) {
end:
  do
  /* A new attempt. The cheap request is first, or the script if the lock was contended. */
  :: d_step { MAY_ACT(me) && phase[me] == RESTING && request[me] == NOTHING && round[me] < ROUNDS ->
       rest(me);
       round[me]++;
       phase[me] = WAITING;
       send(TRY) }
  :: d_step { MAY_ACT(me) && phase[me] == RESTING && request[me] == NOTHING && round[me] < ROUNDS ->
       rest(me);
       round[me]++;
       phase[me] = WAITING;
       send(ENQUEUE) }
  /* The server executes the request. */
  :: d_step { request[me] != NOTHING && !is_answered[me] && is_up[me] ->
       execute(request[me], ME(me));
       answer_of[me] = reply; answer_token[me] = reply_token; answer_others[me] = reply_others;
       answer(NO_REPLY);
       is_answered[me] = true }
#if BREAKS
  :: d_step { ghost[me] != NOTHING ->
       execute(ghost[me], ghost_owner[me]);
       answer(NO_REPLY);
       ghost[me] = NOTHING; ghost_owner[me] = 0 }
#endif
  /* The client reads the reply. */
  :: d_step { MAY_ACT(me) && is_answered[me] && phase[me] == RESTING -> forget_request(me) }
  :: d_step { MAY_ACT(me) && is_answered[me] && phase[me] == WAITING -> read_as_waiter() }
  :: d_step { MAY_ACT(me) && is_answered[me] && phase[me] == HOLDING -> read_as_holder() }
  :: d_step { MAY_ACT(me) && is_answered[me] && phase[me] == RELEASING -> read_as_releaser() }
  /* attempt.cpp, on_grant() */
  :: d_step { MAY_ACT(me) && grant_age[me] != 0 && phase[me] == WAITING ->
       if
       :: AGE_OF_GRANT * 2 <= GRANT -> begin(LEASE_OF_GRANT - AGE_OF_GRANT, grant_token[me])
       :: else ->
            forget_grant();
            if
            :: request[me] == NOTHING -> send(CHECK)
            :: else
            fi
       fi }
#if LOSSES
  :: d_step { grant_age[me] != 0 -> forget_grant() }
  :: d_step { is_wanted[me] -> is_wanted[me] = false }
#endif
  /* attempt.cpp, on_timer() */
#ifndef WITHOUT_CHECKS
  :: d_step { MAY_ACT(me) && phase[me] == WAITING && request[me] == NOTHING && check_in[me] == 0 ->
       send(CHECK) }
#endif
  /* The caller gives up. */
  :: d_step { MAY_ACT(me) && phase[me] == WAITING && request[me] == NOTHING ->
#ifdef WITHOUT_CANCEL
       rest(me) }
#else
       may_queue[me] = true;
       give_back() }
#endif
  /* hold.cpp, renew() */
  :: d_step { MAY_ACT(me) && phase[me] == HOLDING && request[me] == NOTHING && left[me] < LEASE ->
       send(RENEW) }
#if RETAIN
  :: d_step { MAY_ACT(me) && phase[me] == HOLDING && request[me] == NOTHING && spare[me] == 0 &&
       passes < PASSES -> send(DRAW) }
#endif
  /* The caller unlocks. */
  :: d_step { MAY_ACT(me) && phase[me] == HOLDING && request[me] == NOTHING -> give_back() }
  :: d_step { MAY_ACT(me) && phase[me] == HOLDING && is_wanted[me] ->
       is_wanted[me] = false; others[me] = true }
#if RETAIN
  :: d_step { MAY_ACT(me) && phase[me] == HOLDING && request[me] == NOTHING && !others[me] &&
       !may_queue[me] && !is_wanted[me] && spare[me] != 0 && left[me] > HALF_OF_LEASE -> phase[me] = RETAINING }
  /* The next acquire of the client takes the claim up, with a token that it drew as the owner. */
  :: d_step { MAY_ACT(me) && phase[me] == RETAINING && passes < PASSES &&
       left[me] > HALF_OF_LEASE ->
       passes++;
#ifdef WITHOUT_TOKEN_OF_PASS
       begin(left[me], last_token);
#else
       begin(left[me], spare[me]);
#endif
       spare[me] = 0 }
#ifndef WITHOUT_WANTED
  :: d_step { MAY_ACT(me) && phase[me] == RETAINING && is_wanted[me] ->
       others[me] = true;
       give_back() }
#endif
#ifdef WITHOUT_REST
  :: d_step { MAY_ACT(me) && phase[me] == RETAINING && left[me] <= HALF_OF_LEASE &&
       owner == ME(me) -> renew(ME(me), LEASE, 0); answer(NO_REPLY); left[me] = LEASE }
#else
  :: d_step { MAY_ACT(me) && phase[me] == RETAINING && left[me] <= HALF_OF_LEASE -> give_back() }
#endif
#endif
  /* Faults. */
#if PAUSES
  :: d_step { pauses < PAUSES && is_alive[me] && !is_paused[me] && MAY_PAUSE(me) ->
       pauses++; is_paused[me] = true; idle = 0 }
  :: d_step { is_paused[me] -> is_paused[me] = false; idle = 0 }
#endif
#if DEATHS
  :: d_step { deaths < DEATHS && is_alive[me] ->
       deaths++; is_alive[me] = false; is_paused[me] = false; has_subscriber[me] = false; idle = 0;
       rest(me) }
#endif
#if BREAKS
  :: d_step { breaks < BREAKS && is_alive[me] && is_up[me] ->
       breaks++; idle = 0;
       is_up[me] = false; is_cut[me] = true; has_subscriber[me] = false;
       if
       :: request[me] != NOTHING && !is_answered[me] ->
            ghost[me] = request[me]; ghost_owner[me] = ME(me)
       :: else
       fi;
       forget_request(me);
       forget_messages(me) }
#endif
#if BREAKS || RESTARTS
  /* A new connection: CLIENT KILL for the old one, the inbox, the handshake, and on_up(). */
  :: d_step { is_alive[me] && !is_paused[me] && !is_up[me] ->
#ifndef WITHOUT_KILL
       ghost[me] = NOTHING; ghost_owner[me] = 0;
#endif
       is_up[me] = true; is_cut[me] = false; has_subscriber[me] = true;
       seed(true, CLOCK);
       if
       :: phase[me] == WAITING -> send(CHECK)
       :: phase[me] == HOLDING -> send(RENEW)
       :: phase[me] == RETAINING -> give_back()
#ifdef WITHOUT_RELEASE_AGAIN
       :: phase[me] == RELEASING -> rest(me)
#else
       :: phase[me] == RELEASING -> send(CANCEL)
#endif
       :: else
       fi }
#endif
  od
}

/* ---- the server ------------------------------------------------------------------------------ */

#if RESTARTS
inline end_connection(which) {
  is_up[which] = false; is_cut[which] = false; has_subscriber[which] = false;
  ghost[which] = NOTHING; ghost_owner[which] = 0;
  forget_request(which);
  forget_messages(which)
}

proctype restart() {
  byte each;
end:
  do
  :: d_step { restarts < RESTARTS ->
       restarts++; idle = 0;
       highest_fence = (fence > highest_fence -> fence : highest_fence);
       is_new_run = true;
       for (each : 0 .. CLIENTS - 1) { end_connection(each) };
       each = 0;
#ifdef LOSES_DATA
       delete_lock();
       for (each : 0 .. QUEUE - 1) { queue[each] = 0 };
       each = 0; waiting = 0; queue_left = 0; fence = 0;
#endif
       grace = 0 }
  od
}
#endif

/* ---- time ------------------------------------------------------------------------------------ */

#ifdef WITHOUT_CHECKS
#define IS_CHECK_DUE(client) false
#else
#define IS_CHECK_DUE(client) (phase[client] == WAITING && check_in[client] == 0)
#endif
#ifdef WITHOUT_WANTED
#define IS_WANTED_READ(client) (phase[client] == HOLDING)
#else
#define IS_WANTED_READ(client) (phase[client] == HOLDING || phase[client] == RETAINING)
#endif
/* A dead client's last request is not delayed, either. */
#define IS_UNDELIVERED(client) \
  (!is_alive[client] && is_up[client] && request[client] != NOTHING && !is_answered[client])
#define IS_BUSY(client) (IS_UNDELIVERED(client) || is_alive[client] && !is_paused[client] && \
  (!is_up[client] || request[client] != NOTHING || grant_age[client] != 0 || \
   (is_wanted[client] && IS_WANTED_READ(client)) || IS_CHECK_DUE(client) || \
   (phase[client] == RETAINING && left[client] <= HALF_OF_LEASE)))

#if CLIENTS > 2
#define IS_ANY_BUSY (IS_BUSY(0) || IS_BUSY(1) || IS_BUSY(2))
#else
#define IS_ANY_BUSY (IS_BUSY(0) || IS_BUSY(1))
#endif

inline tick(which) {
  if
  :: request[which] != NOTHING && age[which] < LEASE -> age[which]++
  :: else
  fi;
  if
  :: grant_age[which] != 0 && grant_age[which] <= GRANT -> grant_age[which]++
  :: else
  fi;
  if
  :: check_in[which] > 0 -> check_in[which]--
  :: else
  fi;
  if
  :: left[which] == 1 -> rest(which)
  :: left[which] > 1 -> left[which]--
  :: else
  fi
}

proctype time() {
  byte each;
  bool is_waited, is_held;
end:
  do
  :: d_step {
       !IS_ANY_BUSY && (owner != 0 || waiting > 0 || left[0] + left[1] > 0 || grace > 0) ->
       pass_time_at_server(1);
       is_waited = false; is_held = false;
       for (each : 0 .. CLIENTS - 1) {
         tick(each);
         is_waited = is_waited || (IS_WELL(each) && phase[each] == WAITING);
         is_held = is_held || HOLDS(each)
       };
       idle = (is_waited && !is_held -> idle + 1 : 0);
#ifndef NO_BOUND
       assert(idle <= BOUND);
#else
       idle = 0;
#endif
       each = 0; is_waited = false; is_held = false }
  od
}

init {
  byte each;
  atomic {
    for (each : 0 .. CLIENTS - 1) {
      is_alive[each] = true; is_up[each] = true; has_subscriber[each] = true;
      run client(each)
    };
#if RESTARTS
    run restart();
#endif
    run time();
    each = 0
  }
}
