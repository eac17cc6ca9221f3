/* Replays a trace of one mutex at a quorum by the rules of ballot_rules.pml. The trace has each
   command that a simulated server executed, each restart, and each hold that a client reported.
   This model executes the same commands and then compares the replies and the keys.

   It refuses a hold that does not exclude all others: until its deadline, a majority of the servers
   must keep their votes for it, or give no vote to anybody. Its token must be above the last one,
   and no server of that majority may vote for a lower one afterwards (hazards 1, 11, 16, 17, 30).

   votes.h reads the trace, which votes.py has translated into numbers, and prints the result. All
   times are since the start of the trace: those of proposals in us, the others in ms of the
   server's clock. */

#define SERVERS 5
#define OWNER short
#define PROPOSAL int
/* As in ballot.lua and member.lua, in ms. */
#define AHEAD 3600000
#define SECOND 1000

#define MAX(a, b) ((a) > (b) -> (a) : (b))

/* highest_proposal() in ballot.lua. Without a ballot, the fence counter stands for forgotten
   proposals. It is never below the time an hour ago, because each handshake lifts it. */
#ifdef WITHOUT_FENCE
#define KNOWN(server) ballot[server]
#else
#define KNOWN(server) (ballot[server] != 0 -> ballot[server] : fence[server])
#endif
#ifdef WITHOUT_END_OF_QUARANTINE
#define HIGHEST_PROPOSAL(server) KNOWN(server)
#define IS_LIFTED(server) false
#else
#define HIGHEST_PROPOSAL(server) MAX(KNOWN(server), quarantine[server])
#define IS_LIFTED(server) (HIGHEST_PROPOSAL(server) == quarantine[server])
#endif

#include "ballot_rules.pml"

int vote_end[SERVERS];
int fence[SERVERS];
int quarantine[SERVERS];  /* its end, in us; 0: none */
bool is_new[SERVERS];     /* no client has met this run of the server */

/* Its latest snapshot. */
hidden short saved_owner[SERVERS];
hidden int saved_ballot[SERVERS];
hidden int saved_end[SERVERS];
hidden int saved_fence[SERVERS];
hidden int saved_quarantine[SERVERS];

/* Of the whole trace. */
hidden byte servers;
hidden int quarantine_ms; /* 0: the servers lose nothing */

/* What the clients report: at most one holds. */
OWNER holder = 0;
int holder_end[SERVERS];  /* its deadline, by the clock of each server */
PROPOSAL last_token = 0;
int line = 0;             /* of the trace */
hidden byte broken = 0;   /* the rule that an event breaks; 0: none */

inline require(rule, which) {
  if
  :: !(rule) && broken == 0 -> broken = which
  :: else
  fi
}

/* ---- the event ------------------------------------------------------------------------------- */

#define EVENT_TAKE 1
#define EVENT_RENEW 2
#define EVENT_RELEASE 3
#define EVENT_SEED 4
#define EVENT_MEMBER 5
#define EVENT_REFUSED 6
#define EVENT_RESTART 7
#define EVENT_SNAPSHOT 8
#define EVENT_HOLD 9
#define EVENT_PROLONG 10
#define EVENT_END 11
#define IS_AT_SERVER (event <= EVENT_SNAPSHOT)

#define WITH_DATA 0
#define WITH_SNAPSHOT 1
#define WITH_NOTHING 2

hidden byte event;
hidden byte at;       /* the server */
hidden int now_us;    /* by its clock */
hidden int now_ms;
hidden short by;      /* the owner */
hidden int proposal;  /* or the token, or the lowest fence counter */
hidden int option;    /* the requested lease, the uptime in s, or what a restart keeps */
hidden int due[SERVERS]; /* the deadline, or the time of the end, by the clock of each server */

c_code {
\#include "votes.h"
}

/* ---- a server -------------------------------------------------------------------------------- */

#define NO_REPLY 0
#define VOTED 1
#define NOT_FREE 2
#define TOO_LOW 3
#define QUARANTINED 4
#define RENEWED 5
#define NOT_OWNER 6
#define RELEASED 7
#define KEPT 8
#define MEMBER 9

byte reply = NO_REPLY;
int reply_number;  /* a proposal, or the rest of a quarantine in ms */
int reply_left;    /* of the lease */
hidden int granted_ms;
hidden int rest;    /* of a quarantine, in ms */
hidden int highest; /* the highest proposal */

inline answer(what, number, lease) {
  reply = what; reply_number = number; reply_left = lease
}

/* A key lives for the rest of its last ms. */
inline pass_time() {
  if
  :: owner[at] != 0 && vote_end[at] < now_ms -> take_back(at); vote_end[at] = 0
  :: else
  fi
}

/* ballot_take.lua. A vote is never shortened: the owner may have renewed it meanwhile. */
inline take() {
  rest = (quarantine[at] > now_us -> (quarantine[at] - now_us + 999) / 1000 : 0);
  highest = HIGHEST_PROPOSAL(at);
  if
#ifndef WITHOUT_QUARANTINE
  :: rest > 0 -> answer(QUARANTINED, rest, 0)
  :: rest == 0 && !IS_FREE_FOR(by, at) ->
#else
  :: !IS_FREE_FOR(by, at) ->
#endif
       answer(NOT_FREE, highest, vote_end[at] - now_ms)
  :: else ->
       if
       :: !IS_HIGH_ENOUGH(by, at, proposal) -> answer(TOO_LOW, highest, -2)
       :: else ->
            granted_ms = option;
            if
            :: owner[at] == by && vote_end[at] - now_ms > granted_ms ->
                 granted_ms = vote_end[at] - now_ms
            :: else
            fi;
            give_vote(by, at, proposal);
            vote_end[at] = now_ms + granted_ms;
            answer(VOTED, proposal, granted_ms)
       fi
  fi
}

/* ballot_renew.lua */
inline renew() {
  if
  :: owner[at] == by ->
       vote_end[at] = now_ms + option;
#ifndef WITHOUT_PROPOSAL_OF_RENEWAL
       raise_ballot(at, proposal);
#endif
       answer(RENEWED, proposal, option)
  :: owner[at] != by -> answer(NOT_OWNER, owner[at] != 0, 0)
  fi
}

/* ballot_release.lua */
#ifdef WITHOUT_PROPOSAL_OF_RELEASE
#define MAY_RELEASE (owner[at] == by)
#elif defined(WITHOUT_OWNER_CHECK)
#define MAY_RELEASE (owner[at] != 0 && ballot[at] <= proposal)
#else
#define MAY_RELEASE (owner[at] == by && ballot[at] <= proposal)
#endif
inline release() {
  if
  :: MAY_RELEASE -> take_back(at); vote_end[at] = 0; answer(RELEASED, 0, 0)
  :: else -> answer(KEPT, 0, 0)
  fi
}

/* seed.lua. The proposal is the server's clock, or the highest token that the client has seen. */
inline seed() {
#ifndef WITHOUT_LIFTED_FENCE
  if
  :: proposal > fence[at] -> fence[at] = proposal
  :: else
  fi;
#endif
  answer(NO_REPLY, 0, 0)
}

/* member.lua. A server that has run for longer than any lease forgets nothing. */
inline member() {
  rest = quarantine_ms + SECOND - option * 1000;
  if
  :: quarantine_ms != 0 && rest > -2 * AHEAD && now_us + rest * 1000 > quarantine[at] ->
#ifdef WITHOUT_QUARANTINE_AFTER_RESTART
       skip
#else
       quarantine[at] = now_us + rest * 1000
#endif
  :: else
  fi;
  is_new[at] = false;
  rest = (quarantine[at] > now_us -> (quarantine[at] - now_us + 999) / 1000 : 0);
  answer(MEMBER, rest, 0)
}

inline restart() {
  if
  :: option == WITH_DATA
  :: option == WITH_SNAPSHOT ->
       owner[at] = saved_owner[at]; ballot[at] = saved_ballot[at]; vote_end[at] = saved_end[at];
       fence[at] = saved_fence[at]; quarantine[at] = saved_quarantine[at]
  :: option == WITH_NOTHING ->
       owner[at] = 0; ballot[at] = 0; vote_end[at] = 0; fence[at] = 0; quarantine[at] = 0;
       saved_owner[at] = 0; saved_ballot[at] = 0; saved_end[at] = 0;
       saved_fence[at] = 0; saved_quarantine[at] = 0
  fi;
  is_new[at] = true
}

inline save() {
  saved_owner[at] = owner[at]; saved_ballot[at] = ballot[at]; saved_end[at] = vote_end[at];
  saved_fence[at] = fence[at]; saved_quarantine[at] = quarantine[at]
}

inline execute() {
  if
  :: event == EVENT_TAKE -> take()
  :: event == EVENT_RENEW -> renew()
  :: event == EVENT_RELEASE -> release()
  :: event == EVENT_SEED -> seed()
  :: event == EVENT_MEMBER -> member()
  :: event == EVENT_REFUSED -> answer(NO_REPLY, 0, 0)
  :: event == EVENT_RESTART -> restart()
  :: event == EVENT_SNAPSHOT -> save()
  fi
}

/* ---- holds ----------------------------------------------------------------------------------- */

#define QUORUM (servers / 2 + 1)
/* Until the deadline the server votes for nobody else, and then for no lower proposal. A client
   meets a server that has restarted before it asks for a vote. */
#define EXCLUDES(server)                                                                   \
  ((owner[server] == holder && vote_end[server] >= holder_end[server] &&                   \
    HIGHEST_PROPOSAL(server) >= last_token) ||                                             \
   (quarantine[server] >= last_token && quarantine[server] / 1000 >= holder_end[server]) || \
   (is_new[server] && quarantine_ms != 0))
#define IS_EXCLUSIVE                                                            \
  (EXCLUDES(0) + (servers > 1 && EXCLUDES(1)) + (servers > 2 && EXCLUDES(2)) +  \
   (servers > 3 && EXCLUDES(3)) + (servers > 4 && EXCLUDES(4)) >= QUORUM)

inline check_exclusion(which) {
  if
  :: !IS_EXCLUSIVE && broken == 0 -> broken = which
  :: else
  fi
}

inline set_deadline() {
  holder_end[0] = due[0]; holder_end[1] = due[1]; holder_end[2] = due[2];
  holder_end[3] = due[3]; holder_end[4] = due[4]
}

inline hold() {
  require(holder == 0, 1);
  require(proposal > last_token, 3);
  holder = by; last_token = proposal;
  set_deadline();
  check_exclusion(2)
}

inline prolong() {
  require(holder == by, 4);
  set_deadline();
  check_exclusion(2)
}

inline end() {
  require(holder == by, 4);
  require(due[0] <= holder_end[0] && due[1] <= holder_end[1], 6); /* there are two or more */
  holder = 0
}

active proctype replay() {
  c_code { read_trace(); };
  do
  :: c_expr { now.line < events } ->
       d_step {
         c_code { load_event(now.line); };
         broken = 0;
         if
         :: IS_AT_SERVER ->
              pass_time();
              execute();
              if
              :: holder != 0 -> check_exclusion(5)
              :: else
              fi
         :: event == EVENT_HOLD -> hold()
         :: event == EVENT_PROLONG -> prolong()
         :: event == EVENT_END -> end()
         fi;
         c_code { compare_event(now.line); };
         line++ }
  :: else -> break
  od;
  c_code { accept_trace(); }
}
