/* Replays a trace of one lock by the rules of queued_rules.pml. The trace has each command that a
   simulated server executed, and each hold that a client reported. This model executes the same
   commands and then compares the replies, the messages and the keys. It refuses a hold that no
   rule allows. So the searched model and the shipped scripts follow the same rules.

   queued.h reads the trace, which queued.py has translated into numbers, and prints the result. */

#define TIME int
#define OWNER short
#define TOKEN int
#define CLIENTS 250
#define OWNERS 8000
#define QUEUE 250
/* As in the scripts, in ms. */
#define QUEUE_TURN 1000
#define QUEUE_LIFE 300000
#define GRACE 360000
#define OVER 5000
#define CHANGED 5000
#define CUT_OFF 2000
#define QUEUE_AGES true
#define LEAST_TTL 1
#define NO_LEASE (-2)
#define LEASE 15000 /* of a grant, where the rule of short grants is left out */

hidden byte client_of[OWNERS];
hidden int grant_of[OWNERS];
#define CLIENT_OF(number) client_of[number]
#define GRANT_OF(number) grant_of[number]

/* The messages of a command. */
#define MESSAGES 4
hidden byte sent = 0;
hidden byte sent_kind[MESSAGES];
hidden short sent_to[MESSAGES];
hidden int sent_number[MESSAGES];

inline note_message(kind, to, number) {
  sent_kind[sent] = kind; sent_to[sent] = to; sent_number[sent] = number;
  sent++
}
inline send_grant(to, number) { note_message(1, to, number) }
inline send_place(to, lease) { note_message(2, to, lease) }
inline send_wanted(to) {
  if
  :: has_subscriber[CLIENT_OF(to)] -> note_message(3, to, 0)
  :: else
  fi
}
inline note_removal(gone) { skip }

#include "queued_rules.pml"

/* What the clients report: at most one holds. */
OWNER holder = 0;
TIME holder_left = 0;   /* of its lease, as its client knows */
TOKEN last_token = 0;
int line = 0;           /* of the trace */
hidden byte broken = 0; /* the rule that an event breaks; 0: none */

inline require(rule, which) {
  if
  :: !(rule) && broken == 0 -> broken = which
  :: else
  fi
}

/* ---- the event ------------------------------------------------------------------------------- */

#define EVENT_TAKE_FREE 1
#define EVENT_ACQUIRE 2
#define EVENT_RELEASE 3
#define EVENT_RELEASE_ALONE 4
#define EVENT_CANCEL 5
#define EVENT_RENEW 6
#define EVENT_SEED 7
#define EVENT_DELETE 8
#define EVENT_REFUSED 9
#define EVENT_RESTART 10
#define EVENT_LISTENS 11
#define EVENT_LEAVES 12
#define EVENT_HOLD 13
#define EVENT_PROLONG 14
#define EVENT_END 15
#define IS_COMMAND (event <= EVENT_REFUSED)

hidden byte event;
hidden int elapsed;      /* since the event before, in ms of the server's clock */
hidden short by;         /* the owner, or the client */
hidden int number;       /* the requested lease, or the token */
hidden int option;       /* the mode, or how many tokens to draw, or a deadline */
hidden int fence_before; /* all locks of a server share the counter */

c_code {
\#include "queued.h"
}

inline execute() {
  if
  :: event == EVENT_TAKE_FREE -> take_free(by, number)
  :: event == EVENT_ACQUIRE -> acquire(by, number, option)
  :: event == EVENT_RELEASE -> release(by)
  :: event == EVENT_RELEASE_ALONE -> release_alone(by)
  :: event == EVENT_CANCEL -> cancel(by)
  :: event == EVENT_RENEW -> renew(by, number, option)
  :: event == EVENT_SEED -> seed(option, number); answer(NO_REPLY)
  :: event == EVENT_DELETE -> delete_if_equal(by)
  :: event == EVENT_REFUSED -> answer(NO_REPLY)
  fi
}

/* A hold is a lease that the server has granted to this owner and that ends later at the server.
   Its token was drawn for this lock since the hold before (hazards 1, 6, 17 and 30). */
inline hold() {
  require(holder == 0, 1);
  require(owner == by && !IS_OVER, 2);
  lease_now = LEASE_LEFT;
  require(option <= lease_now, 3);
  require(number > last_token, 4);
  require(number <= fence, 5);
  holder = by; holder_left = option; last_token = number
}

inline prolong() {
  require(holder == by, 6);
  require(owner == by && !IS_OVER, 2);
  lease_now = LEASE_LEFT;
  require(option <= lease_now, 3);
  holder_left = option
}

active proctype replay() {
  c_code { read_trace(); };
  do
  :: c_expr { now.line < events } ->
       d_step {
         c_code { load_event(now.line); };
         pass_time_at_server(elapsed);
         holder_left = holder_left - elapsed;
         sent = 0; broken = 0;
         if
         :: IS_COMMAND ->
              require(fence_before >= fence, 7);
              fence = fence_before;
              execute();
              require(holder == 0 || (owner == holder && !IS_OVER), 8)
         :: event == EVENT_RESTART -> is_new_run = true
         :: event == EVENT_LISTENS -> has_subscriber[by] = true
         :: event == EVENT_LEAVES -> has_subscriber[by] = false
         :: event == EVENT_HOLD -> hold()
         :: event == EVENT_PROLONG -> prolong()
         :: event == EVENT_END ->
              require(holder == by, 6);
              require(holder_left >= 0, 9);
              holder = 0; holder_left = 0
         fi;
         c_code { compare_event(now.line); };
         line++ }
  :: else -> break
  od;
  c_code { accept_trace(); }
}
