# The command ends before another owner can acquire the lock, although something is missing or in the
# way: descriptors, memory, /proc, pidfd, a reader of stderr (hazard 1).
load helpers

short="--lease 3s --grace 500ms"
stubborn='trap "" TERM; echo $$ >"$1"; while :; do sleep 0.1; done'

delete_locks() { redis-cli -s "${MORTISE_TEST_URL#unix://}" flushall; }

# ends_all <description>: the command started by `begin` ends with the lock.
ends_all() {
  ends_with "$launcher" 79
  is_gone "$command" || {
    echo "the command continues: $1" >&2
    return 1
  }
}

# $words is a full pipe that is never read.
fill_words() {
  words=$folder/pipe
  mkfifo "$words"
  sleep 1000 <"$words" 3>&- &
  started+=($!)
  dd if=/dev/zero of="$words" bs=4k count=1000 oflag=nonblock 2>/dev/null || true
}

@test "stderr is full, and the lock was deleted" {
  fill_words
  begin $short
  delete_locks
  ends_all "stderr is full"
}

@test "stderr is full, and the lock cannot be renewed" {
  local server
  fill_words
  begin $short
  server=$(redis-cli -s "${MORTISE_TEST_URL#unix://}" info server | tr -d '\r' | sed -n 's/^process_id://p')
  kill -STOP "$server"
  ends_with "$launcher" 79
  kill -CONT "$server"
  is_gone "$command"
}

@test "stderr is full, and the lock holder process is stopped" {
  fill_words
  begin $short
  kill -STOP "$holder_process"
  ends_all "stderr is full"
}

@test "stderr is full, and the lock holder process is killed" {
  fill_words
  begin $short
  kill -KILL "$holder_process"
  ends_all "stderr is full"
}

@test "few descriptors: nothing is started, or it ends with the lock" {
  local count fronts=() was_started=0
  export stubborn
  for count in $(seq 4 30); do
    (
      ulimit -n "$count"
      exec mortise exec $short "$name $count" -- sh -c "$stubborn" sh "$folder/command$count"
    ) 2>"$folder/words$count" 3>&- &
    fronts[count]=$!
    started+=($!)
  done
  for count in "${!fronts[@]}"; do
    is_decided() { is_there "$folder/command$count" || is_gone "${fronts[count]}"; }
    until_it is_decided
  done
  delete_locks
  for count in "${!fronts[@]}"; do
    if is_there "$folder/command$count"; then
      was_started=$((was_started + 1))
      ends_with "${fronts[count]}" 79
      is_gone "$(cat "$folder/command$count")"
    else
      code=0
      wait "${fronts[count]}" || code=$?
      echo "$count descriptors: $code $(cat "$folder/words$count")"
      [ "$code" != 0 ]
      [ "$code" != 1 ]
      [ -s "$folder/words$count" ]
    fi
  done
  [ "$was_started" -gt 0 ]
}

@test "no descriptor is left while it runs" {
  export script=$stubborn
  begin $short
  prlimit --pid "$holder_process" --nofile=0
  prlimit --pid "$launcher" --nofile=0
  delete_locks
  ends_all "no descriptors"
}

@test "no memory is left while it runs" {
  export script=$stubborn
  begin $short
  prlimit --pid "$holder_process" --as=1
  prlimit --pid "$launcher" --as=1
  delete_locks
  ends_all "no memory"
}

@test "no /proc: nothing is started" {
  local in_namespace=(unshare --user --map-root-user --mount)
  "${in_namespace[@]}" mount -t tmpfs none /proc 2>"$folder/reason" ||
    skip "no mount namespaces ($(tail -1 "$folder/reason"))"
  run "${in_namespace[@]}" sh -c 'mount -t tmpfs none /proc && exec mortise exec "$name" -- touch "$folder/ran"'
  fails_with 71
  says "/proc"
  [ ! -e "$folder/ran" ]
  is_free
}

@test "/proc of another PID namespace: nothing is started" {
  local in_namespace=(unshare --user --map-root-user --pid --fork)
  "${in_namespace[@]}" true 2>"$folder/reason" ||
    skip "no PID namespaces ($(tail -1 "$folder/reason"))"
  run "${in_namespace[@]}" mortise exec "$name" -- touch "$folder/ran"
  fails_with 71
  says "/proc"
  [ ! -e "$folder/ran" ]
  is_free
}

@test "no pidfd, as in Linux 4.18 and in some sandboxes" {
  export script=$stubborn
  for problem in EPERM ENOSYS; do
    begin_by=("$WITHOUT_PIDFD" "$problem")
    begin $short
    delete_locks
    ends_all "$problem"
    rm "$folder/command"
  done
}

@test "the lock holder process is killed while it starts the command" {
  python3 - kill <"$BATS_TEST_DIRNAME/starting.py"
}

@test "the lock holder process is stopped while it starts the command" {
  python3 - stop <"$BATS_TEST_DIRNAME/starting.py"
}

@test "SIGCHLD is ignored: the command's end is seen" {
  run python3 -c '
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execvp("timeout", ["timeout", "60", "mortise", "exec", os.environ["name"], "--", "sh", "-c", "exit 7"])'
  fails_with 7
  is_free
}

@test "--token-file is a FIFO without a reader: a signal ends the wait for it" {
  mkfifo "$folder/token"
  run timeout --preserve-status --signal INT 1 \
    mortise exec --token-file "$folder/token" "$name" -- touch "$folder/ran"
  fails_with 130
  is_free
  [ ! -e "$folder/ran" ]
}

@test "--token-file is a FIFO with a reader" {
  mkfifo "$folder/token"
  mortise exec --token-file "$folder/token" "$name" -- touch "$folder/ran" 3>&- &
  started+=($!)
  until_it pgrep -P $! -x mortise
  [ "$(cat "$folder/token")" -gt 0 ]
  ends_with $! 0
  [ -e "$folder/ran" ]
}

@test "the lock is lost before the command starts: nothing is started" {
  mkfifo "$folder/token"
  mortise exec --token-file "$folder/token" "$name" -- touch "$folder/ran" 3>&- 2>"$folder/words" &
  launcher=$!
  started+=("$launcher")
  is_held() { ! is_free; }
  until_it is_held
  mortise release --force --yes "$name"
  ends_with "$launcher" 79
  grep -q "before the command was started" "$folder/words"
  [ ! -e "$folder/ran" ]
}

@test "--at-most that is over before the command starts, or soon after, ends with 124" {
  for time in 1ms 2ms 5ms 20ms 100ms; do
    run mortise exec --at-most "$time" "$name" -- sleep 100
    fails_with 124
  done
}

@test "--on-lost is not ended, however long it takes" {
  begin --lease 1s --grace 100ms --on-lost 'sleep 3; echo done >"$folder/lost"'
  delete_locks
  ends_with "$launcher" 79
  [ "$(cat "$folder/lost")" = done ]
}

@test "a descendant cannot be killed: --on-lost is not ended, and mortise waits for both" {
  # As by sudo: a process of another user, and a mortise without the right to signal it.
  begin_by=(setpriv --bounding-set -kill)
  "${begin_by[@]}" setpriv --reuid 65534 --clear-groups true 2>"$folder/reason" ||
    skip "not root ($(tail -1 "$folder/reason"))"
  # shellcheck disable=SC2016 # the shell of the other user
  local script='exec setpriv --reuid 65534 --clear-groups sh -c "echo \$\$; exec sleep 12" >"$1"'
  begin --lease 6s --grace 1s --on-lost 'sleep 5; echo done >"$folder/lost"'
  delete_locks
  ends_with "$launcher" 79
  is_gone "$command"
  [ "$(cat "$folder/lost")" = done ]
  run ! grep "hangs" "$words"
}

@test "options of the URL that are for long-lived clients do not keep the lock" {
  for options in retain=1s release=sent retain=1s\&release=sent; do
    for kind in "" -s -x "--permits 2"; do
      mortise exec --url "$MORTISE_URL?lease=10s&$options" $kind "$name $kind" -- true
      [ "$(redis-cli -s "${MORTISE_TEST_URL#unix://}" --raw keys "{mortise:$name $kind}")" = "" ]
    done
  done
}
