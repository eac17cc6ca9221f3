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

@test "it is in its caller's process group" {
  run mortise exec "$name" -- sh -c 'ps -o pgid= -p $$; ps -o pgid= -p '"$$"
  [ "${lines[0]// /}" = "${lines[1]// /}" ]
}
