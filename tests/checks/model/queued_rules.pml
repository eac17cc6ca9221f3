/* The server of one `queued` lock: what src/protocol/scripts/queued_*.lua and seed.lua do to its
   keys. Each inline below is one script, or one function of src/protocol/scripts/lib.

   Two models include this file. queued.pml searches all runs of a few clients. queued_trace.pml
   replays the commands that the scripts executed in a simulation, and compares the keys, the
   replies and the messages after each command. So a rule in this file cannot differ from the
   scripts without a notice.

   An includer defines the types TIME, OWNER and TOKEN, the sizes CLIENTS and QUEUE, the times
   below, CLIENT_OF(owner) and GRANT_OF(owner) (the lease of an unconfirmed grant). It also defines
   the messages (inbox.lua): send_grant for `G`, send_place for `N`, send_wanted for `W`. An owner
   is one attempt of one client, from 1 on.

   Each name WITHOUT_… leaves out one rule. `check` lists them. */

/* Replies. */
#define NO_REPLY 0
#define GRANTED 1
#define QUEUED 2
#define NOT_FREE 3
#define NOT_OWNER 4
#define RELEASED 5
#define HANDED_OVER 6
#define HAS_WAITERS 7
#define CANCELED 8

/* How an acquire asks. */
#define ONLY_TRY 0
#define FIRST_TIME 1
#define ONCE_MORE 2

/* The lock's key, and the time until it expires. */
OWNER owner = 0;      /* 0: no key */
bool is_marked = false;
TIME lock_left = 0;
/* The queue's key. Its time until expiry also stores the grace period of the queue (grace.lua). */
OWNER queue[QUEUE];
byte waiting = 0;
TIME queue_left = 0;
/* The fence counter, and the grace period of the server (grace_period.lua). */
TOKEN fence = 0;
TIME grace = 0;       /* the rest; 0: none */
bool is_new_run = false; /* no client has met this run of the server */
bool has_subscriber[CLIENTS]; /* whether the inbox of a client has a subscriber */

/* The reply of the latest command. */
byte reply = NO_REPLY;
TOKEN reply_token;
TIME reply_left;      /* the rest of the present lease */
bool has_left;        /* false: there is no lease */
byte reply_place;     /* in the queue, from 0 on; QUEUE: none */
bool reply_others;    /* whether others patience */

/* Of one command. */
hidden OWNER winner;
hidden OWNER candidate;
hidden byte position;
hidden byte at;
hidden byte is_reached;
hidden byte was_head;
hidden TIME lease_now;
hidden TIME patience;

/* ---- the keys -------------------------------------------------------------------------------- */

/* mark.lua. A marked lock stays longer than its lease, so that only the queue gets it at the end. */
#ifdef WITHOUT_TURN
#define TURN_LEFT 0
#else
#define TURN_LEFT QUEUE_TURN
#endif
#define IS_OVER (owner == 0 || (is_marked && lock_left < TURN_LEFT))
#define LEASE_LEFT (is_marked -> lock_left - TURN_LEFT : lock_left)
#define WITH_TURN(ttl) (is_marked -> (ttl) + TURN_LEFT : (ttl))

/* grace.lua: what is left of the grace period of the queue. Its end stays visible for a while. */
#define IS_QUEUE_IN_GRACE \
  (waiting > 0 && queue_left > GRACE && queue_left <= GRACE + CHANGED)
#define IS_QUEUE_GRACE_OVER \
  (waiting > 0 && queue_left > GRACE - OVER && queue_left <= GRACE)

inline delete_lock() {
  owner = 0; is_marked = false; lock_left = 0
}

/* Removes queue[which]. */
inline remove_waiter(which) {
  at = which;
  do
  :: at + 1 < waiting -> queue[at] = queue[at + 1]; at++
  :: else -> break
  od;
  waiting--;
  queue[waiting] = 0;
  if
  :: waiting == 0 -> queue_left = 0
  :: else
  fi
}

/* The position of a waiter, or `waiting` without one. */
inline find_place(whom) {
  position = 0;
  do
  :: position < waiting && queue[position] != whom -> position++
  :: else -> break
  od
}

/* renew_queue() */
inline renew_queue() {
  if
  :: IS_QUEUE_IN_GRACE || IS_QUEUE_GRACE_OVER
  :: else -> queue_left = QUEUE_LIFE
  fi
}

/* draw() */
inline draw() {
#ifndef WITHOUT_DRAWING
  fence++
#else
  skip
#endif
}

/* ---- dead and unreachable waiters ------------------------------------------------------------ */

#ifdef WITHOUT_GRACE
#define IS_IN_GRACE false
#else
#define IS_IN_GRACE (grace > 0)
#endif

/* unreachable_wait_ms(): how long to patience for an unreachable waiter; 0: not at all. */
inline unreachable_wait_ms() {
  if
  :: !IS_IN_GRACE -> patience = 0
  :: IS_IN_GRACE && IS_QUEUE_IN_GRACE -> patience = queue_left - GRACE
  :: else ->
       patience = grace;
       if
       :: waiting > 0 -> queue_left = GRACE + grace
       :: else
       fi
  fi
}

/* end_grace(): removes the waiters that are still unreachable. */
inline end_grace(asker) {
#ifndef WITHOUT_END_OF_GRACE
  if
  :: IS_QUEUE_GRACE_OVER ->
       position = 0;
       do
       :: position == waiting -> break
       :: position < waiting && (queue[position] == asker || has_subscriber[CLIENT_OF(queue[position])]) -> position++
       :: else -> remove_waiter(position)
       od;
       if
       :: waiting > 0 -> queue_left = QUEUE_LIFE
       :: else
       fi
  :: else
  fi
#else
  skip
#endif
}

/* notify_head(), with unmark() at its end. */
inline notify_head(lease) {
  do
  :: waiting > 0 && !has_subscriber[CLIENT_OF(queue[0])] && !IS_IN_GRACE ->
       note_removal(queue[0]);
       remove_waiter(0)
  :: else -> break
  od;
  if
  :: waiting > 0 && has_subscriber[CLIENT_OF(queue[0])] -> send_place(queue[0], lease)
  :: waiting > 0 && !has_subscriber[CLIENT_OF(queue[0])]
  :: else ->
       if
       :: owner != 0 && is_marked && IS_OVER -> delete_lock()
       :: owner != 0 && is_marked && !IS_OVER ->
            lock_left = LEASE_LEFT;
            if
            :: lock_left == 0 -> lock_left = LEAST_TTL
            :: else
            fi;
            is_marked = false
       :: else
       fi
  fi
}

/* hand_over(): the next live waiter becomes the owner. `winner` is 0 without one. */
inline hand_over(caller, caller_ttl) {
  end_grace(caller);
  winner = 0;
  if
  :: waiting > 0 ->
       draw();
       do
       :: waiting == 0 || winner != 0 -> break
       :: else ->
            candidate = queue[0];
            remove_waiter(0);
#ifdef WITHOUT_SHORT_GRANT
            lease_now = LEASE;
#else
            lease_now = GRANT_OF(candidate);
#endif
            if
            :: candidate == caller -> lease_now = caller_ttl
            :: else
            fi;
            owner = candidate;
            is_marked = (waiting > 0);
            lock_left = WITH_TURN(lease_now);
            is_reached = (candidate == caller || has_subscriber[CLIENT_OF(candidate)]);
            if
            :: is_reached && candidate != caller -> send_grant(candidate, fence)
            :: else
            fi;
            patience = 0;
            if
            :: !is_reached -> unreachable_wait_ms()
            :: else
            fi;
            if
            :: patience > 0 ->
                 if
                 :: patience > lease_now -> lease_now = patience
                 :: else
                 fi;
                 lock_left = WITH_TURN(lease_now)
            :: else
            fi;
#ifdef WITHOUT_SKIPPING_THE_DEAD
            is_reached = true;
#endif
            if
            :: is_reached || patience > 0 ->
                 winner = candidate;
                 if
                 :: waiting > 0 -> notify_head(lease_now)
                 :: else
                 fi
            :: else -> note_removal(candidate)
            fi
       od
  :: else
  fi
}

/* ---- the steps ------------------------------------------------------------------------------- */

inline answer(what) {
  reply = what; reply_token = 0; reply_left = 0; has_left = false; reply_place = QUEUE;
  reply_others = false
}

inline answer_granted(ttl, do_others_wait) {
  answer(GRANTED);
  reply_token = fence; reply_left = ttl; has_left = true; reply_others = do_others_wait
}

/* The rest of the present lease, for a client that has to patience. */
inline answer_taken(what) {
  answer(what);
  if
  :: IS_OVER
  :: else -> reply_left = LEASE_LEFT; has_left = true
  fi
}

/* MULTI, SET NX PX, INCR, EXEC */
inline take_free(me, ttl) {
  draw();
  if
  :: owner == 0 ->
       owner = me; is_marked = false; lock_left = ttl;
       answer_granted(ttl, false)
  :: else -> answer(NOT_FREE)
  fi
}

#ifdef WITHOUT_TURNS
#define IS_TURN_OF_NEWCOMERS true
#else
#define IS_TURN_OF_NEWCOMERS (waiting == 0)
#endif
/* queued_acquire.lua */
inline acquire(me, ttl, mode) {
  if
  :: owner == me ->
       draw();
       lock_left = WITH_TURN(ttl);
       answer_granted(ttl, is_marked || waiting > 0)
  :: owner != me && IS_OVER && IS_TURN_OF_NEWCOMERS ->
       draw();
       owner = me; is_marked = false; lock_left = ttl;
       answer_granted(ttl, false)
  :: else ->
       answer_taken(NOT_FREE);
       if
       :: mode == ONLY_TRY
       :: else ->
            position = waiting;
            if
            :: mode == ONCE_MORE -> find_place(me)
            :: else
            fi;
            if
            :: position == waiting -> queue[waiting] = me; waiting++
            :: else
            fi;
            if
            :: position == 0 || mode == ONCE_MORE -> renew_queue()
            :: else
            fi;
            if
            :: IS_OVER ->
                 hand_over(me, ttl);
                 if
                 :: winner == me -> answer_granted(ttl, is_marked)
                 :: else ->
                      find_place(me);
                      answer_taken(QUEUED);
                      reply_place = (position < waiting -> position : QUEUE)
                 fi
            :: else ->
                 answer_taken(QUEUED);
                 reply_place = position;
#ifndef WITHOUT_MARK
                 if
                 :: !is_marked ->
                      is_marked = true;
                      lock_left = lock_left + TURN_LEFT;
                      send_wanted(owner)
                 :: else
                 fi
#endif
            fi
       fi
  fi
}

#ifdef WITHOUT_OWNER_CHECK
#define IS_OWNER(me) (owner != 0)
#else
#define IS_OWNER(me) (owner == (me))
#endif

inline release_or_hand_over(what) {
  hand_over(0, 0);
  if
  :: winner == 0 -> delete_lock(); answer(RELEASED)
  :: else -> answer(what)
  fi
}

/* queued_release.lua */
inline release(me) {
  if
  :: IS_OWNER(me) -> release_or_hand_over(HANDED_OVER)
  :: else -> answer(NOT_OWNER)
  fi
}

/* queued_release_alone.lua */
inline release_alone(me) {
  if
#ifdef WITHOUT_LOOK_FOR_WAITERS
  :: IS_OWNER(me) -> delete_lock(); answer(RELEASED)
#else
  :: IS_OWNER(me) && !is_marked -> delete_lock(); answer(RELEASED)
  :: IS_OWNER(me) && is_marked -> answer(HAS_WAITERS)
#endif
  :: else -> answer(NOT_OWNER)
  fi
}

/* DELEX or DELIFEQ, which stand for queued_release_alone.lua where a server has them. */
inline delete_if_equal(me) {
  if
  :: IS_OWNER(me) && !is_marked -> delete_lock(); answer(RELEASED)
  :: else -> answer(NOT_OWNER)
  fi
}

/* queued_cancel.lua */
inline cancel(me) {
  if
  :: IS_OWNER(me) -> release_or_hand_over(RELEASED); answer(RELEASED)
  :: else ->
       was_head = (waiting > 0 && queue[0] == me);
       find_place(me);
       answer(NOT_OWNER);
       if
       :: position < waiting -> remove_waiter(position); answer(CANCELED)
       :: else
       fi;
       if
       :: was_head ->
            if
            :: IS_OVER -> lease_now = NO_LEASE
            :: else -> lease_now = LEASE_LEFT
            fi;
            notify_head(lease_now)
       :: else
       fi
  fi
}

/* queued_renew.lua */
#ifdef WITHOUT_OWNER_CHECK_OF_RENEWALS
#define MAY_RENEW(me) true
#else
#define MAY_RENEW(me) (owner == (me) && !IS_OVER)
#endif
inline renew(me, ttl, tokens) {
  if
  :: MAY_RENEW(me) ->
#ifdef WITHOUT_OWNER_CHECK_OF_RENEWALS
       owner = me;
#endif
       lock_left = WITH_TURN(ttl);
       fence = fence + tokens;
       answer_granted(ttl, is_marked);
       if
       :: tokens == 0 -> reply_token = 0
       :: else
       fi
  :: else -> answer(NOT_OWNER); reply_others = (owner != 0 && owner != me)
  fi
}

/* seed.lua. `lowest` is the server's clock, or the highest token that the client has seen. */
inline seed(is_back, lowest) {
  if
  :: is_new_run && CHANGED > grace -> grace = CHANGED
  :: !is_new_run && is_back && CUT_OFF > grace -> grace = CUT_OFF
  :: else
  fi;
  is_new_run = false;
#ifndef WITHOUT_LIFTED_FENCE
  if
  :: lowest > fence -> fence = lowest
  :: else
  fi
#endif
}

/* ---- time ------------------------------------------------------------------------------------ */

/* The server's clock advances. A key with TTL 0 lives for the rest of that unit. */
inline pass_time_at_server(by) {
#ifndef WITHOUT_LEASE
  if
  :: owner != 0 && lock_left < (by) -> delete_lock()
  :: owner != 0 && lock_left >= (by) -> lock_left = lock_left - (by)
  :: else
  fi;
#endif
  if
  :: waiting > 0 && queue_left < (by) ->
       do
       :: waiting > 0 -> waiting--; queue[waiting] = 0
       :: else -> break
       od;
       queue_left = 0
  :: waiting > 0 && queue_left >= (by) && QUEUE_AGES -> queue_left = queue_left - (by)
  :: else
  fi;
  grace = (grace > (by) -> grace - (by) : 0)
}
