# Complaints of users of other tools, each by its number. If Debian has the tool, the test shows
# that they are right.
load helpers

@test "consul #947: the command's exit code is passed on" {
  run mortise exec "$name" -- sh -c 'exit 23'
  fails_with 23
}

@test "consul #2022 and #873: no grandchild survives a shell that is killed" {
  export script='sh -c "echo \$\$ >\"$folder/grandchild\"; exec sleep 100" & echo $$ >"$1"; wait'
  begin --lease 3s --grace 200ms
  until_it is_there "$folder/grandchild"
  redis-cli -s "${MORTISE_TEST_URL#unix://}" flushall
  ends_with "$launcher" 79
  is_gone "$(cat "$folder/grandchild")"
}

@test "consul #1210, #797 and #2489: SIGQUIT, SIGHUP and SIGINT strand nobody" {
  for signal in QUIT HUP TERM; do
    rm -f "$folder/command"
    begin
    kill -"$signal" "$launcher"
    ends_with "$launcher" $((128 + $(kill -l "$signal")))
    is_gone "$command"
  done
}

@test "consul #1063: the command's options are not ours" {
  run mortise exec "$name" -- echo -timeout 5 --url x
  fails_with 0
  [ "$output" = "-timeout 5 --url x" ]
}

@test "consul #9788: two never run because the first was killed too late" {
  begin --lease 3s --grace 500ms
  kill -STOP "$holder_process"
  mortise exec "$name" -- sh -c '! kill -0 "$1" 2>/dev/null || grep -q "^State:.*Z" "/proc/$1/status"' sh "$command"
}

@test "etcdctl PR 7983: the command is not left alone with a lost lock" {
  begin --lease 3s --grace 200ms
  redis-cli -s "${MORTISE_TEST_URL#unix://}" flushall
  ends_with "$launcher" 79
  is_gone "$command"
}

@test "etcdctl: the command has our standard input, and its signal is reported" {
  run bash -c 'echo words | mortise exec "$name" -- cat'
  [ "$output" = words ]
  run mortise exec "$name" -- sh -c 'kill -TERM $$'
  fails_with 143
}

@test "flock leaves the command running at SIGTERM; mortise does not" {
  flock "$folder/file" sh -c 'echo $$ >"$folder/left"; exec sleep 100' 3>&- &
  flocker=$!
  until_it is_there "$folder/left"
  kill "$flocker"
  wait "$flocker" || true
  run ! is_gone "$(cat "$folder/left")"
  kill "$(cat "$folder/left")"
  begin
  kill "$launcher"
  ends_with "$launcher" 143
  is_gone "$command"
}

@test "flock's lock is kept by a daemon that nobody remembers; mortise's is not" {
  flock "$folder/file" sh -c 'sleep 100 >/dev/null 2>&1 3>&- & echo $! >"$folder/daemon"'
  run flock -n "$folder/file" true
  fails_with 1
  kill "$(cat "$folder/daemon")"
  mortise exec "$name" -- sh -c 'sleep 100 >/dev/null 2>&1 3>&- & echo $! >"$folder/daemon"'
  run mortise exec -n "$name" -- true
  fails_with 0
  kill "$(cat "$folder/daemon")"
}

@test "flock runs a short job again on a late host; --at-least does not (cronlock's GRACE)" {
  for _ in 1 2; do flock -n "$folder/file" sh -c 'echo ran >>"$folder/by_flock"'; done
  [ "$(wc -l <"$folder/by_flock")" = 2 ]
  for _ in 1 2; do
    mortise exec -n -E 0 --at-least 40s "$name" -- sh -c 'echo ran >>"$folder/by_mortise"'
  done
  [ "$(wc -l <"$folder/by_mortise")" = 1 ]
}
