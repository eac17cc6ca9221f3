# The command has ended before another client can hold the lock, whatever has failed (hazards 1, 2,
# 14 and 26).
load helpers

short="--lease 3s --grace 500ms"
# For tests in which the lock holder process has to end the command: the launcher gives it 2 s,
# also on a loaded machine.
unhurried="--lease 12s --grace 2s"
# It neither ends on request nor stays in its process group or session, or with its parent.
stubborn='
  setsid sh -c "trap \"\" TERM HUP INT; exec 0<&- 1>&- 2>&-; echo \$\$ >\"$folder/daemon\"; while :; do sleep 1; done" &
  trap "" TERM
  echo $$ >"$1"
  while :; do sleep 1; done'

# The next client gets the lock only when all of it has ended.
next_finds_nobody() {
  mortise exec "$name" -- sh -c '
    for process; do
      if kill -0 "$process" 2>/dev/null && ! grep -q "^State:.*Z" "/proc/$process/status"; then exit 9; fi
    done' sh "$@"
}

@test "the server hangs: the command has ended before the lease is over" {
  local server
  begin $short
  server=$(redis-cli -s "${MORTISE_TEST_URL#unix://}" info server | tr -d '\r' | sed -n 's/^process_id://p')
  kill -STOP "$server"
  ends_with "$launcher" 79
  is_gone "$command"
  kill -CONT "$server"
  next_finds_nobody "$command"
}

@test "the command hangs: it has ended before the lease is over, and the next client gets the lock" {
  local script='echo $$ >"$1"; echo >"$MORTISE_PROGRESS"; exec sleep 100'
  begin $unhurried --progress 500ms
  ends_with "$launcher" 79
  is_gone "$command"
  grep -q "no --progress in time" "$words"
  is_free
}

@test "the command hangs: another host runs it in the same period" {
  run mortise exec $unhurried --progress 500ms --once-per 1d "$name" -- sleep 100
  fails_with 79
  run mortise exec -E 9 --once-per 1d "$name" -- echo ran
  fails_with 0
  says ran
  run mortise exec -E 9 --once-per 1d "$name" -- true
  fails_with 9
}

@test "a command that reports progress goes on, also from a process of its own" {
  # Twice as long as a hold without reports.
  local script='echo $$ >"$1"; for i in $(seq 24); do sh -c "echo >\"\$MORTISE_PROGRESS\""; sleep 0.3; done; exit 5'
  begin $short --progress 500ms
  ends_with "$launcher" 5
}

@test "progress in the URL is for programs, and ends no command" {
  MORTISE_URL="$MORTISE_URL?progress=100ms" begin $short
  run timeout 6 tail --pid="$launcher" -f /dev/null
  fails_with 124
  [ -z "$(tr '\0' '\n' <"/proc/$command/environ" | grep MORTISE_PROGRESS)" ]
}

# For tests that act between the loss and the end of the grace period.
patient="--lease 7s --grace 2s"

# holds_by <command>…: the command, with arguments of `mortise` behind it, is $launcher, and runs.
holds_by() {
  "$@" $patient "$name" -- sh -c "$sleeps" sh "$folder/command" 2>"$folder/words" 3>&- &
  launcher=$!
  started+=("$launcher")
  until_it is_there "$folder/command"
}

# The command ends because the network loses all, and the lock is still at the server. Its holder
# tries to release it until the lease is over, and ends then.
# ends_before_the_lease <redis-cli…>
ends_before_the_lease() {
  until_it is_gone "$(cat "$folder/command")"
  [ "$("$@" exists "{mortise:$name}")" = 1 ]
  ends_with "$launcher" 79
  grep -q "could not be renewed" "$folder/words"
}

@test "the network is lost: the command ends" {
  local namespaces=$BATS_TEST_DIRNAME/../../support/namespaces
  "$namespaces" 1 </dev/null >/dev/null 2>"$folder/reason" ||
    skip "no network namespaces ($(tail -1 "$folder/reason")); the next test has a proxy instead"
  coproc network { exec "$namespaces" 2 2>/dev/null 3>&-; }
  read -r _ net <&"${network[0]}"
  local enter=(nsenter --preserve-credentials --user="$net/user")
  at() { "${enter[@]}" --net="$net/$1" "${@:2}"; }
  # Not by at(): then $! would be a shell's, and the server would outlive the test.
  "${enter[@]}" --net="$net/1" redis-server --port 6379 --protected-mode no --save '' \
    --dir "$folder" >"$folder/log" 2>&1 3>&- &
  started+=($!)
  until_it at 2 redis-cli -h 10.77.0.1 ping
  holds_by at 2 mortise exec --url redis://10.77.0.1
  echo "cut 1 2" >&"${network[1]}"
  read -r _ <&"${network[0]}"
  ends_before_the_lease at 1 redis-cli
  exec {network[1]}>&-
}

@test "a proxy keeps all that is sent, in both directions: the command ends" {
  local server=${MORTISE_TEST_URL#unix://}
  coproc network { exec "$BATS_TEST_DIRNAME/../../support/proxy" "$server" 3>&-; }
  read -r _ net _ <&"${network[0]}"
  holds_by mortise exec --url "unix://$net/proxy.sock"
  echo freeze >&"${network[1]}"
  read -r _ <&"${network[0]}"
  ends_before_the_lease redis-cli -s "$server"
  exec {network[1]}>&-
}

@test "the lock is deleted: the command is signaled, and --on-lost is run" {
  export script='trap "echo asked >\"$folder/asked\"; exit" TERM; echo $$ >"$1"; while :; do sleep 0.1; done'
  begin $patient --on-lost 'echo "$MORTISE_NAME" >"$folder/lost"; sleep 0.2; echo done >>"$folder/lost"'
  redis-cli -s "${MORTISE_TEST_URL#unix://}" flushall
  ends_with "$launcher" 79
  [ -s "$folder/asked" ]
  [ "$(tail -1 "$folder/lost")" = done ]
}

@test "of several names one is lost: the others are given back" {
  mortise exec --lease 60s --grace 2s "$name a" "$name b" -- \
    sh -c "$sleeps" sh "$folder/command" 2>"$words" 3>&- &
  launcher=$!
  started+=("$launcher")
  until_it is_there "$folder/command"
  mortise release --force --yes "$name a"
  ends_with "$launcher" 79
  is_gone "$(cat "$folder/command")"
  run mortise exec -n "$name b" -- true
  fails_with 0
}

@test "what ignores SIGTERM and has left its group, session and parent is killed" {
  export script=$stubborn
  begin $short
  until_it is_there "$folder/daemon"
  redis-cli -s "${MORTISE_TEST_URL#unix://}" flushall
  ends_with "$launcher" 79
  is_gone "$command"
  is_gone "$(cat "$folder/daemon")"
  # Checked by the holder, and not only by the other client at the end.
  run ! grep "hangs" "$folder/words"
}

@test "a stopped command is killed, too" {
  begin $short
  kill -STOP "$command"
  # The shell's job is stopped with its command, and ends with it.
  until_it grep -q '^State:.*T' "/proc/$launcher/status"
  redis-cli -s "${MORTISE_TEST_URL#unix://}" flushall
  until_it is_gone "$command"
  until_it is_gone "$launcher"
  ends_with "$launcher" 79
}

@test "the lock holder process is stopped: the launcher ends all in time" {
  export script=$stubborn
  begin $short
  until_it is_there "$folder/daemon"
  kill -STOP "$holder_process"
  ends_with "$launcher" 79
  is_gone "$command"
  next_finds_nobody "$command" "$(cat "$folder/daemon")"
}

@test "the lock holder process is killed: so is the command, before the lease is over" {
  export script=$stubborn
  begin $short
  until_it is_there "$folder/daemon"
  kill -KILL "$holder_process"
  ends_with "$launcher" 79
  is_gone "$command"
  next_finds_nobody "$command" "$(cat "$folder/daemon")"
}

@test "mortise itself is killed: the other ends the command, then gives back" {
  export script=$stubborn
  begin $short
  until_it is_there "$folder/daemon"
  kill -KILL "$launcher"
  next_finds_nobody "$command" "$(cat "$folder/daemon")"
  until_it is_gone "$holder_process"
}

@test "mortise itself is stopped: the lock is held, and renewed" {
  begin $short
  kill -STOP "$launcher"
  sleep 4
  run mortise exec -n "$name" -- true
  fails_with 1
  run ! is_gone "$command"
  kill -CONT "$launcher"
  kill "$command"
  ends_with "$launcher" 143
}

@test "killed while it waits, it keeps nobody waiting" {
  begin
  mortise exec "$name" -- touch "$folder/ran" 3>&- &
  waiter=$!
  started+=("$waiter")
  until_it pgrep -P "$waiter" -x mortise
  second=$(pgrep -P "$waiter" -x mortise)
  until_it waits
  kill -KILL "$waiter"
  until_it is_gone "$second"
  kill "$command"
  run mortise exec -w 60 "$name" -- true
  fails_with 0
  [ ! -e "$folder/ran" ]
}

@test "the waiting lock holder process is killed: it is reported, and nothing runs" {
  begin
  mortise exec "$name" -- touch "$folder/ran" 3>&- 2>"$folder/words" &
  waiter=$!
  started+=("$waiter")
  until_it pgrep -P "$waiter" -x mortise
  kill -KILL "$(pgrep -P "$waiter" -x mortise)"
  ends_with "$waiter" 70
  [ -s "$folder/words" ]
  [ ! -e "$folder/ran" ]
}

@test "a daemon that outlives the command goes on, as it would alone" {
  run mortise exec "$name" -- sh -c 'setsid sleep 100 >/dev/null 2>&1 3>&- & echo $! >"$folder/daemon"'
  fails_with 0
  run ! is_gone "$(cat "$folder/daemon")"
  is_free
  kill "$(cat "$folder/daemon")"
}

@test "a server of local: that was started meanwhile outlives the command" {
  export MORTISE_URL=local: MORTISE_LOCAL_DIR=$folder/local MORTISE_LOCAL_IDLE_S=5
  local socket=$folder/local/local.sock
  process_of() { redis-cli -s "$socket" info server | tr -d '\r' | sed -n 's/^process_id://p'; }
  begin $short
  first=$(process_of)
  kill -KILL "$first"
  ends_with "$launcher" 79
  is_gone "$command"
  second=$(process_of)
  [ -n "$second" ]
  [ "$second" != "$first" ]
}
