#include "cli/exec/help.hpp"

namespace mortise::cli::exec {

const char* const help_text = R"HELP(Runs a command while a lock is held.

  mortise exec nightly -- backup --all          waits for its turn
  mortise exec -n -E 0 nightly -- backup        skips it if somebody else has the lock
  mortise exec --once-per 1h report -- report   on many hosts, by one of them

Usage: mortise exec [OPTION...] NAME... -- COMMAND [ARGUMENT...]
       mortise exec [OPTION...] NAME... -c 'SHELL COMMAND'

Of several names, all are held or none.

Which lock
  -s, --shared                 read side of a read-write lock, beside other readers
  -x, --exclusive              its write side; without either it is a mutex
      --permits N              one of N permits of a semaphore
      --url URL                where the locks are; else MORTISE_URL. Others see what is written
                               here, so a password belongs in MORTISE_URL or in a file
      --label TEXT             what `show` tells others about this holder

How long to wait
  -n, --nonblock               not at all
  -w, --wait TIME              at most so long, such as 2.5 (seconds), 500ms, 10m
  -E, --conflict-exit-code N   what to end with if the lock was not acquired; 1 unless given
      --verbose                say so, too

How long to hold
      --lease TIME             how long the lock stays held if this host fails; 30s unless given
      --grace TIME             how long a command that has to end may take from SIGTERM to SIGKILL;
                               5s unless given, and no more than a third of the lease
      --at-least TIME          keep the lock so long even if the command is done sooner
      --at-most TIME           end the command then
      --once-per PERIOD        only if it has not been run in this hour, day, ... on any host

What else
  -c, --command TEXT           run this by /bin/sh
      --on-lost TEXT           run this by /bin/sh when the lock is lost
      --token-file FILE        write the fencing token there before the command starts
  -h, --help                   this text

The command has MORTISE_NAME and MORTISE_TOKEN in its environment. Exit codes: the command's, or
128 and its signal; 1 not acquired; 64 wrong usage; 65 the name is another kind of lock; 69 no
server; 71 no resources; 75 outcome unknown; 77 no permission; 79 the lock was lost; 124 --at-most;
126, 127 no such command.
)HELP";

}  // namespace mortise::cli::exec
