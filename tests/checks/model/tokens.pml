/* The fencing tokens of a quorum: each grant's token is above those of all earlier grants. The
   servers are src/protocol/scripts/ballot/ballot_*.lua, the clients
   src/deployment/redlock/votes/acquisition.cpp and src/deployment/redlock/votes.

   The network is as bad as it can be: a request is executed at any moment after it was sent, at
   any of the servers, also twice or never, and after later ones. A reply is read at any moment.

   Only one property of time is relied on: a server keeps a vote until its lease is over at the
   client, at any moment. leases.pml shows why.

   Each name that `check` gives with -D breaks one rule, and Spin has to find the consequence. */

#define SERVERS 3
#ifndef CLIENTS
#define CLIENTS 2
#endif
#ifndef HIGHEST
#define HIGHEST 5
#endif
/* So many proposals there are: 1 to HIGHEST. */
#if HIGHEST == 4
#define EACH_PROPOSAL(what) what(1) what(2) what(3) what(4)
#elif HIGHEST == 5
#define EACH_PROPOSAL(what) what(1) what(2) what(3) what(4) what(5)
#else
#define EACH_PROPOSAL(what) what(1) what(2) what(3) what(4) what(5) what(6)
#endif

/* vote_count.hpp, needed_of() */
#ifdef HALF_IS_A_QUORUM
#define QUORUM 1
#else
#define QUORUM 2
#endif
#define COUNT(set) (((set) & 1) + (((set) >> 1) & 1) + (((set) >> 2) & 1))

#define OWNER byte
#define PROPOSAL byte
#define HIGHEST_PROPOSAL(server) ballot[server]
#include "ballot_rules.pml"

/* A client, from 1 on. */
byte proposal[CLIENTS + 1]; /* the latest; 0: none yet */
byte votes[CLIENTS + 1];    /* the servers that voted yes, a bit for each */
byte granted[CLIENTS + 1];  /* the token with which it holds the lock; 0: it does not */
bool is_over[CLIENTS + 1];  /* its lease, or it has given its votes back */
byte last_token = 0;

/* ---- restarts -------------------------------------------------------------------------------- */

/* A server that has restarted, without its data or with those of a snapshot, votes after the
   longest lease that it may have lost. The time of its clock at the end of its quarantine stands
   for the lost proposals, and no ballot of the snapshot hides it (member.lua; highest_proposal()
   in ballot.lua). So these runs have a clock. Proposals are behind it by any amount and ahead of
   it by AHEAD at most, for which a quarantine has to be long enough. The first server restarts,
   because they are all alike. The other runs show the effect of late requests. */
#ifdef RESTARTS
#define AHEAD 1
#ifdef QUARANTINE_IS_SHORT
#define QUARANTINE (AHEAD - 1)
#else
#define QUARANTINE AHEAD
#endif
byte clock = 1;
byte restarts = 0;
byte votes_from = 0;        /* the end of its quarantine; 0: it is in none */
byte forgotten_owner = 0;   /* of the vote that it had */
byte forgotten_ballot = 0;
#ifdef OLD_DATA
/* What it has on its disk: nothing, or a snapshot of any moment before. */
byte saved_owner = 0, saved_ballot = 0;
bool is_lifted = false;     /* its ballot is the end of its quarantine, without a voter */
#else
#define saved_owner 0
#define saved_ballot 0
#endif
byte unheard[CLIENTS + 1];  /* up to this proposal a client's requests broke with the server */
#ifdef TOP_UP_HAS_THE_OLD_PROPOSAL
bool is_fence = false;      /* nothing but that stands for a ballot of the first server */
byte top_up[CLIENTS + 1];   /* the proposal of one that is on its way; 0: none is */
#endif
#define CAN_HEAR(client, server, number) \
  ((server) != 0 || (votes_from == 0 && (number) > unheard[client]))
#define IS_TIME_FOR(number) ((number) <= clock + AHEAD)
#define IS_LATE(number) false
#else
#define CAN_HEAR(client, server, number) true
#define IS_TIME_FOR(number) true
#define IS_LATE(number) ((number) < proposal[client])
#endif

/* ---- a server -------------------------------------------------------------------------------- */

#ifdef OLD_DATA
#define IS_LIFTED(server) (server == 0 && is_lifted)
#else
#define IS_LIFTED(server) false
#endif

#define MAY_VOTE(client, server, number) \
  (IS_FREE_FOR(client, server) && CAN_HEAR(client, server, number) && \
   IS_HIGH_ENOUGH(client, server, number))

inline vote(number) {
#ifdef TOKENS_ARE_COUNTED
  give_vote(client, server, ballot[server] + 1)
#else
  give_vote(client, server, number)
#endif
#ifdef TOP_UP_HAS_THE_OLD_PROPOSAL
  ;
  is_fence = is_fence && server != 0
#endif
#if defined(RESTARTS) && defined(OLD_DATA)
  ;
  is_lifted = is_lifted && server != 0
#endif
}

/* What may come late: the request of any earlier round, of this client or of another. */
#define LATE_QUESTION(number) \
  :: d_step { IS_LATE(number) && MAY_VOTE(client, server, number) -> vote(number) }

/* Whether the client still counts on the vote: nothing takes that before its lease is over. */
#define IS_COUNTED_ON(client, number) \
  (!is_over[client] && ((number) == proposal[client] || granted[client] != 0))

#ifdef RELEASE_TAKES_ANY
#define IS_RELEASED_BY(client, number) (proposal[client] > 1)
#elif defined(PROPOSED_AGAIN)
#define IS_RELEASED_BY(client, number) has_given_back[client]
bool has_given_back[CLIENTS + 1]; /* its latest proposal, before */
#else
#define IS_RELEASED_BY(client, number) false
#endif

/* One server and one client's requests to it. */
proctype wire(byte client; byte server) {
end:
  do
  /* The request of the latest round, or a top-up of a hold (acquisition.cpp, top_up()),
     which does not count. */
  :: d_step { proposal[client] != 0 && MAY_VOTE(client, server, proposal[client]) ->
       vote(proposal[client]);
       if
       :: granted[client] == 0 && !is_over[client] -> votes[client] = votes[client] | (1 << server)
       :: else
       fi }
  EACH_PROPOSAL(LATE_QUESTION)
  /* ballot_release.lua releases a vote for its own proposal and for lower ones, and so does the
     end of a lease. A client that counts on a vote has sent no such release. */
  :: d_step { owner[server] == client && (!IS_COUNTED_ON(client, ballot[server]) ||
       IS_RELEASED_BY(client, ballot[server])) -> take_back(server) }
#ifdef TOP_UP_HAS_THE_OLD_PROPOSAL
  :: d_step { server == 0 && granted[client] != 0 && top_up[client] == 0 ->
       top_up[client] = granted[client] }
  :: d_step { server == 0 && top_up[client] != 0 && votes_from == 0 && owner[0] == 0 &&
       (is_fence || top_up[client] >= ballot[0]) ->
       vote(top_up[client]);
       top_up[client] = 0 }
#endif
#ifdef TOKENS_ARE_DRAWN
  /* ballot_renew.lua, for a higher proposal. */
  :: d_step { granted[client] != 0 && proposal[client] > granted[client] &&
       owner[server] == client && CAN_HEAR(client, server, proposal[client]) ->
       raise_ballot(server, proposal[client]);
       votes[client] = votes[client] | (1 << server) }
#endif
  od
}

#ifdef RESTARTS
proctype restart() {
end:
  do
  :: d_step { restarts < RESTARTS && votes_from == 0 ->
       restarts++;
#ifndef NO_QUARANTINE
       votes_from = clock + QUARANTINE;
       forgotten_owner = owner[0];
       forgotten_ballot = ballot[0];
#endif
       owner[0] = saved_owner;
#ifdef TOKENS_ARE_FORGOTTEN
       ballot[0] = saved_ballot;
#elif defined(OLD_BALLOT_COUNTS)
       ballot[0] = (saved_ballot != 0 -> saved_ballot : clock + QUARANTINE);
#elif defined(FENCE_IS_OF_THE_START)
       ballot[0] = clock;
#else
       ballot[0] = (saved_ballot > clock + QUARANTINE -> saved_ballot : clock + QUARANTINE);
#endif
#if defined(OLD_DATA) && !defined(OLD_BALLOT_COUNTS) && !defined(AN_OLD_VOTE_COUNTS)
       is_lifted = saved_ballot < ballot[0];
#endif
#ifdef OLD_DATA
       saved_owner = 0; saved_ballot = 0; /* for fewer states, as it is not looked at again */
#endif
#ifdef TOP_UP_HAS_THE_OLD_PROPOSAL
       is_fence = true; top_up[1] = 0; top_up[2] = 0;
#endif
       unheard[1] = proposal[1];
       unheard[2] = proposal[2] }
#ifdef OLD_DATA
  :: d_step { restarts == 0 && saved_ballot == 0 && ballot[0] != 0 ->
       saved_owner = owner[0]; saved_ballot = ballot[0] }
#endif
  :: d_step { votes_from != 0 && clock >= votes_from &&
       (forgotten_owner == 0 || !IS_COUNTED_ON(forgotten_owner, forgotten_ballot)) ->
       votes_from = 0; forgotten_owner = 0; forgotten_ballot = 0 }
  :: d_step { clock + AHEAD < HIGHEST -> clock++ }
  od
}
#endif

/* ---- a client -------------------------------------------------------------------------------- */

/* acquisition.cpp, next_request(): a round, the first or a later one, or again because it was outrun.
   Which number it has above its earlier ones is left open: no clock and no knowledge of others
   decides that. */
#define ROUND(number)                                                              \
  :: d_step { granted[me] == 0 && number > proposal[me] && IS_TIME_FOR(number) ->    \
       proposal[me] = number; votes[me] = 0; is_over[me] = false }

/* The same, for tokens that are drawn with a renewal, or for a top-up. */
#define RESERVE(number)                                                              \
  :: d_step { granted[me] != 0 && number > proposal[me] && IS_TIME_FOR(number) ->    \
       proposal[me] = number; votes[me] = 0 }

#ifdef LATE_ANSWERS_COUNT
#define IS_IN_TIME true
#else
#define IS_IN_TIME (!is_over[me])
#endif
#ifdef DRAWN_FROM_ONE
#define TO_DRAW 1
#else
#define TO_DRAW QUORUM
#endif

inline be_given(token) {
  assert(token > last_token);
  last_token = token;
  granted[me] = token
}

proctype client(byte me) {
#ifdef TOKENS_ARE_COUNTED
  byte highest;
#endif
end:
  do
  EACH_PROPOSAL(ROUND)
#ifdef PROPOSED_AGAIN
  :: d_step { is_over[me] && proposal[me] != 0 ->
       has_given_back[me] = true; votes[me] = 0; is_over[me] = false }
#endif
  /* vote_count.cpp, decide(); hold.cpp, begin() */
  :: d_step { granted[me] == 0 && COUNT(votes[me]) >= QUORUM && IS_IN_TIME ->
#ifdef TOKENS_ARE_COUNTED
       highest = 0;
       if :: votes[me] & 1 -> highest = ballot[0] :: else fi;
       if :: (votes[me] & 2) && ballot[1] > highest -> highest = ballot[1] :: else fi;
       if :: (votes[me] & 4) && ballot[2] > highest -> highest = ballot[2] :: else fi;
       be_given(highest);
       highest = 0 }
#else
       be_given(proposal[me]) }
#endif
#if defined(TOKENS_ARE_DRAWN) || defined(RESTARTS)
  EACH_PROPOSAL(RESERVE)
#endif
#ifdef TOKENS_ARE_DRAWN
  :: d_step { granted[me] != 0 && proposal[me] > granted[me] && COUNT(votes[me]) >= TO_DRAW ->
       be_given(proposal[me]) }
#endif
  /* The lease is over, a round is lost, or a hold is released. */
  :: d_step { proposal[me] != 0 && !is_over[me] -> is_over[me] = true; granted[me] = 0 }
  od
}

init {
  byte one, other;
  atomic {
    for (one : 1 .. CLIENTS) {
      run client(one);
      for (other : 0 .. SERVERS - 1) { run wire(one, other) }
    }
#ifdef RESTARTS
    run restart();
#endif
    one = 0; other = 0
  }
}
