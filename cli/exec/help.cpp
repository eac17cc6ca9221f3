#include "cli/exec/help.hpp"

namespace mortise::cli::exec {

const char* const help_text = R"HELP(Runs a command while a lock is held.

  mortise exec nightly -- backup --all          wait for the lock
  mortise exec -n -E 0 nightly -- backup        skip the command if the lock is held
  mortise exec --once-per 1h report -- report   run it on one of many hosts

Usage: mortise exec [OPTION...] NAME... -- COMMAND [ARGUMENT...]
       mortise exec [OPTION...] --hold ID -- COMMAND [ARGUMENT...]
       mortise exec [OPTION...] NAME... -c 'SHELL COMMAND'

With several names it acquires all the locks or none.

Lock
      --hold ID                the hold of mortise acquire. It continues after the command
  -s, --shared                 shared mode of a read-write lock
  -x, --exclusive              exclusive mode of a read-write lock. The default is a mutex
      --permits N              one of N permits of a semaphore
      --url URL                servers of the locks (default: $MORTISE_URL)
      --label TEXT             description of the holder in mortise list and show

Wait
  -n, --nonblock               do not wait
  -w, --wait TIME              wait at most this long, such as 2.5 (seconds), 500ms, 10m
  -E, --conflict-exit-code N   exit code if the lock was not acquired (default: 1)
      --verbose                also report on stderr why the command was not run

Hold
      --lease TIME             how long the lock stays held if this host fails (default: 15s)
      --grace TIME             time from SIGTERM to SIGKILL for a command that has to end
                               (default: 5s, at most a third of the lease)
      --at-least TIME          keep the lock this long, even if the command ends sooner
      --at-most TIME           end the command after this time
      --progress TIME          end the command if it reports no progress for this time. It reports
                               by a write to the file $MORTISE_PROGRESS
      --once-per PERIOD        run only once in this hour, day, ... on all hosts
      --only-success           with --once-per: a run that fails does not count

Other options
  -c, --command TEXT           run TEXT by /bin/sh
      --on-lost TEXT           run TEXT by /bin/sh when the lock is lost
      --on-contended TEXT      run TEXT by /bin/sh, once, when others wait for the lock
      --token-file FILE        write the fencing token to FILE before the command starts
      --pass-url               let the command have MORTISE_URL even if it contains a password
  -h, --help                   print this help

The environment of the command has MORTISE_NAME and MORTISE_TOKEN, and MORTISE_PROGRESS with
--progress. It has MORTISE_URL unless that contains a password. Other users see the command line:
keep the password of a URL in MORTISE_URL or in a file.

Exit codes: that of the command, or 128 + N if signal N ended it; 1 not acquired; 64 wrong usage; 65
another kind of lock; 69 no server; 71 no resources; 75 outcome unknown; 77 no permission; 79 the
lock was lost; 124 --at-most; 126, 127 the command cannot be executed, or does not exist.
)HELP";

}  // namespace mortise::cli::exec
