/* The votes of a quorum's servers for one mutex: what src/protocol/scripts/ballot/ballot_*.lua
   decide.

   Two models include this file. tokens.pml searches all runs of a few clients. votes_trace.pml
   replays the commands that the scripts executed in a simulation, and compares the keys and the
   replies after each. So a rule in this file cannot differ from the scripts without a notice.

   An includer defines SERVERS, the types OWNER and PROPOSAL, HIGHEST_PROPOSAL(server), which is
   the highest that the server knows, and IS_LIFTED(server): whether that is the end of a
   quarantine, which is no vote. */

/* A server: the owner of its vote (0: none), and the highest proposal that it has voted for. */
OWNER owner[SERVERS];
PROPOSAL ballot[SERVERS];

/* ballot_take.lua: `held and held ~= ARGV[1]` */
#define IS_FREE_FOR(me, server) (owner[server] == 0 || owner[server] == (me))

/* ballot_take.lua: `proposal < highest or proposal == highest and not is_given` */
#ifdef ANY_PROPOSAL_WILL_DO
#define IS_HIGH_ENOUGH(me, server, number) true
#else
#define IS_HIGH_ENOUGH(me, server, number) \
  ((number) > HIGHEST_PROPOSAL(server) || \
   (owner[server] == (me) && (number) == HIGHEST_PROPOSAL(server) && !IS_LIFTED(server)))
#endif

inline give_vote(me, server, number) {
  owner[server] = me; ballot[server] = number
}

/* ballot_renew.lua, for the owner of the vote */
inline raise_ballot(server, number) {
  if
  :: (number) > ballot[server] -> ballot[server] = number
  :: else
  fi
}

inline take_back(server) {
  owner[server] = 0
}
