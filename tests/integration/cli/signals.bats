# Signals behave as if the command ran alone.
load helpers

traps='for signal in HUP INT QUIT TERM USR1 USR2 WINCH CONT; do
    trap "echo $signal >>\"$folder/got\"" $signal
  done
  trap "exit 42" ALRM
  echo $$ >"$1"
  while :; do sleep 0.05; done'

@test "signals are passed on" {
  export script=$traps
  begin
  for signal in HUP INT QUIT TERM USR1 USR2 WINCH CONT; do
    kill -"$signal" "$launcher"
    until_it grep -qx "$signal" "$folder/got"
  done
  kill -ALRM "$launcher"
  ends_with "$launcher" 42
}

@test "an end by a signal that was passed on shows" {
  for signal in TERM HUP QUIT; do
    rm -f "$folder/command"
    begin
    kill -"$signal" "$launcher"
    ends_with "$launcher" $((128 + $(kill -l "$signal")))
    is_free
  done
}

@test "for the parent process it is the signal itself" {
  run python3 - <<'P'
import os, signal, subprocess, time
with subprocess.Popen(["mortise", "exec", os.environ["name"], "--", "sh", "-c",
                       "echo ready; exec sleep 100"], stdout=subprocess.PIPE) as process:
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    print(process.wait())
P
  [ "$output" = -15 ]
}

@test "a signal to a waiter ends the wait, and nothing runs" {
  begin
  for signal in INT TERM HUP QUIT USR1; do
    run timeout --preserve-status --signal "$signal" 0.5 mortise exec "$name" -- touch "$folder/ran"
    fails_with $((128 + $(kill -l "$signal")))
  done
  [ ! -e "$folder/ran" ]
}

@test "what is ignored stays ignored, as with nohup" {
  script='echo $$ >"$1"; sleep 1; exit 6' run bash -c '
    trap "" HUP
    mortise exec "$name" -- sh -c "echo \$\$ >\"$folder/command\"; sleep 1; exit 6" &
    until [ -s "$folder/command" ]; do sleep 0.05; done
    kill -HUP $!
    wait $!'
  fails_with 6
}

@test "what is ignored while it waits stays ignored, too" {
  begin
  (
    trap "" HUP INT QUIT
    exec mortise exec "$name" -- touch "$folder/ran"
  ) 3>&- &
  waiter=$!
  started+=("$waiter")
  until_it waits
  for signal in HUP INT QUIT; do kill -"$signal" "$waiter"; done
  kill "$command"
  ends_with "$waiter" 0
  [ -e "$folder/ran" ]
}

# exits_on <signal>: a command that ends with 42 at this signal, and after a minute with 0.
exits_on() {
  echo "trap 'exit 42' $1; echo \$\$ >\"\$folder/command\"; for i in \$(seq 1200); do sleep 0.05; done"
}

@test "a hang-up of the terminal reaches the command" {
  python3 - "$(exits_on HUP)" >"$folder/code" 3>&- <<'P' &
import os, pty, sys, time
process, terminal = pty.fork()
if process == 0:
    os.execvp("mortise", ["mortise", "exec", os.environ["name"], "--", "sh", "-c", sys.argv[1]])
while not os.path.exists(os.environ["folder"] + "/command"):
    time.sleep(0.05)
os.close(terminal)
print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
P
  started+=("$!")
  ends_with "$!" 0
  [ "$(cat "$folder/code")" = 42 ]
}

@test "an alarm that was set before reaches the command" {
  # The command has time to set its trap.
  run python3 -c '
import os, signal, sys
signal.alarm(5)
os.execvp("mortise", ["mortise", "exec", os.environ["name"], "--", "sh", "-c", sys.argv[1]])' \
    "$(exits_on ALRM)"
  fails_with 42
}

@test "a stopped one goes on" {
  # Not by SIGTSTP, which stops no process without a shell with job control (terminal.bats).
  begin
  kill -STOP "$command"
  until_it grep -q '^State:.*T' "/proc/$command/status"
  until_it grep -q '^State:.*T' "/proc/$launcher/status"
  kill -CONT "$launcher"
  until_it grep -q '^State:.*S' "/proc/$command/status"
  kill -TERM "$launcher"
  ends_with "$launcher" 143
}

is_in_state() { grep -q "^State:.*$1" "/proc/$2/status"; }

@test "a command that others stop and continue takes mortise along" {
  begin
  kill -STOP "$command"
  until_it is_in_state T "$launcher"
  kill -CONT "$command"
  until_it is_in_state S "$launcher"
  # Also when the launcher is about to stop.
  for _ in $(seq 100); do kill -STOP "$command" && kill -CONT "$command"; done
  until_it is_in_state S "$launcher"
  until_it is_in_state S "$command"
  # It has not continued because of a stop that comes later.
  kill -STOP "$command"
  until_it is_in_state T "$launcher"
  is_in_state T "$command"
  kill -KILL "$command"
  until_it is_gone "$launcher"
  ends_with "$launcher" 137
}

@test "it is in its caller's process group" {
  run mortise exec "$name" -- sh -c 'ps -o pgid= -p $$; ps -o pgid= -p '"$$"
  [ "${lines[0]// /}" = "${lines[1]// /}" ]
}
