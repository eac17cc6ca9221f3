# `mortise list`, `show` and `doctor`: what operators see.
load helpers

# A second holder, waiter or reader in the background: starts <option>… -- <command>…
starts() {
  mortise exec "$@" 2>/dev/null 3>&- &
  started+=($!)
}

lists() { mortise list | grep -q "$1"; }

# The whole list of that time is in $output, and in $cells with single spaces.
lists_wide() {
  run mortise list -o wide
  cells=$(tr -s ' ' <<<"$output")
  grep -qE "$1" <<<"$cells"
}

are_queued() {
  [ "$(redis-cli -s "${MORTISE_TEST_URL#unix://}" llen "{mortise:$name}:q")" = "$1" ]
}

@test "list shows the holders, and how many wait" {
  begin --label "nightly backup"
  starts "$name" -- true
  starts "$name" -- true
  until_it lists '  2  '
  run mortise list
  fails_with 0
  [ "${#lines[@]}" = 1 ]
  says "$name  mutex  $(hostname):$holder_process  "
  says "nightly backup"
}

@test "list -o wide has a line for each client that holds or waits" {
  begin --label "the first"
  starts --label "the second" "$name" -- true
  local cells who="$name mutex exclusive [A-Za-z0-9_-]+ $(hostname)" time="[0-9]+m?s"
  # A waiter is listed before the server's reply, with which it is contended.
  until_it lists_wide "^$who [0-9]+ - - - - 1 $time 0 1 the second$"
  fails_with 0
  [ "${#lines[@]}" = 2 ]
  grep -qE "^$who $holder_process [0-9]{16} 1 $time $time 0 - 1 0 the first$" <<<"$cells"
}

@test "list counts all readers of a client" {
  "$READERS" "$name" 3 >reading 3>&- &
  started+=($!)
  until_it is_there reading
  run mortise list
  fails_with 0
  [ "${#lines[@]}" = 1 ]
  says "$name  rw  $(hostname):${started[0]} +2  "
  run mortise list --all
  [ "${#lines[@]}" = 1 ]
  says "$(hostname):${started[0]} +2  "
  run mortise list -o wide
  [ "${#lines[@]}" = 1 ]
  [ "$(mortise list --json | jq '.entries[].holds')" = 3 ]
}

@test "list -o says which form: names, or JSON" {
  begin
  [ "$(mortise list -o name)" = "$name" ]
  [ "$(mortise list -o json | jq -r '.entries[].name')" = "$name" ]
  run mortise list -o narrow
  fails_with 64
  says "--output narrow is unknown; give wide, name or json"
}

@test "list --all shows what the dead hold, once" {
  begin --lease 330s --label "of the dead"
  kill -KILL "$holder_process" "$launcher"
  local living
  living=$(mktemp)
  mortise exec "living" -- sh -c 'echo >"$0"; exec sleep 60' "$living" 3>&- 2>/dev/null &
  started+=($!)
  until_it test -s "$living"
  run mortise list
  fails_with 0
  [ "${#lines[@]}" = 1 ]
  run mortise list --all
  fails_with 0
  [ "${#lines[@]}" = 2 ]
  local cells
  cells=$(tr -s ' ' <<<"$output")
  grep -qE "^$name mutex \([A-Za-z0-9_-]+\) - - [0-9]+m 0 - of the dead$" <<<"$cells"
  grep -qE "^living mutex $(hostname):[0-9]+ [0-9]+ [0-9]+m?s [0-9]+s 0 - ?$" <<<"$cells"
  [ "$(mortise list --all -o name | sort)" = "$(printf 'living\n%s' "$name" | sort)" ]
  [ "$(mortise list --all -o wide | wc -l)" = 2 ]
  [ "$(mortise list --all --json | jq -r '.keys | length')" = 2 ]
  mortise release --force --yes "$name"
  until_it is_free
  rm "$living"
}

@test "list --all shows the dead and the living holders of a shared lock" {
  begin -s --lease 330s --label "of the dead"
  kill -KILL "$holder_process" "$launcher"
  starts -s "$name" -- sleep 60
  until_it lists "^$name "
  both() { mortise list --all | tr -s ' ' | grep -qE "^$name rw $(hostname):[0-9]+ \\+1 "; }
  until_it both
  [ "$(mortise list --all -o wide | tr -s ' ' | grep -cE "^$name rw ")" = 2 ]
  mortise list --all -o wide | tr -s ' ' | grep -qE "^$name rw .* [0-9]m 0 - 0 0 of the dead$"
}

@test "list --all --match shows keys of other programs, and says what it has not seen" {
  local server=(redis-cli -s "${MORTISE_TEST_URL#unix://}")
  "${server[@]}" SET other:1 secret PX 330000
  run mortise list --all --match 'other:*'
  fails_with 0
  [[ $(tr -s ' ' <<<"$output") =~ ^"other:1 other (unknown) - - 5m 0 -"" "?$ ]]
  "${server[@]}" eval "for i = 1, 5000 do redis.call('SET', 'more:' .. i, '', 'PX', 60000) end" 0
  run --separate-stderr mortise list --all --most 10
  [ "$status" = 0 ]
  [[ $stderr == *"1 server was not scanned to the end; raise --most or --wait"* ]]
  run mortise list --match 'other:*'
  fails_with 64
  says "give --all"
  run mortise list --all --most 0
  fails_with 64
  says "--most 0 is out of range; give 1 to 1000000000"
}

@test "list counts readers, and knows permits" {
  starts -s "$name readers" -- sleep 100
  starts -s "$name readers" -- sleep 100
  starts --permits 3 "$name permits" -- sleep 100
  until_it lists "$name readers  *rw .* +1 "
  until_it lists "$name permits  *semaphore "
}

@test "list without locks says nothing" {
  run mortise list
  fails_with 0
  [ -z "$output" ]
}

@test "list --json is what the clients have said" {
  begin
  mortise list --json | python3 -c '
import json, os, sys
seen = json.load(sys.stdin)
(one,) = [entry for entry in seen["entries"] if entry["holds"]]
assert one["name"] == os.environ["name"] and one["token"] > 0 and one["kind"] == "mutex", one'
}

@test "list names the clients that have not answered" {
  begin
  kill -STOP "$holder_process"
  run --separate-stderr mortise list --wait 300ms
  fails_with 0
  [ -z "$output" ]
  [[ $stderr == *"1 client has not answered"* ]]
  kill -CONT "$holder_process"
}

@test "list leaves alone what is not ours, and reads no keys" {
  local server=(redis-cli -s "${MORTISE_TEST_URL#unix://}")
  begin
  "${server[@]}" set other value
  "${server[@]}" config resetstat
  mortise list
  run "${server[@]}" info commandstats
  for command in keys scan; do
    if [[ $output == *"cmdstat_$command:"* ]]; then
      echo "$command was used" >&2
      return 1
    fi
  done
}

@test "a name that would move the cursor does not" {
  starts $'bell\a and\nline' -- sleep 100
  until_it lists '^bell\\x07 and\\x0Aline '
  run mortise show $'bell\a and\nline'
  says 'bell\x07 and\x0Aline: mutex, held'
}

@test "show draws the queue in order, with ages and labels" {
  begin --label holder
  for label in first second third; do
    starts --label "$label" "$name" -- true
    # A client is listed before it has its place in the server's queue.
    until_it are_queued $((++count))
    until_it lists "  $count  "
  done
  run mortise show "$name"
  fails_with 0
  [[ ${lines[0]} == "$name: mutex, held, "*" left, 3 waiting" ]]
  [[ ${lines[1]} == holds*$holder_process*holder ]]
  [[ ${lines[2]} == waits*first ]]
  [[ ${lines[3]} == waits*second ]]
  [[ ${lines[4]} == waits*third ]]
  [[ $output != *"?"* ]]
}

@test "show knows each kind, and a lock that is free" {
  starts -x "$name rw" -- sleep 100
  starts --permits 3 "$name permits" -- sleep 100
  until_it lists "$name rw"
  until_it lists "$name permits"
  run mortise show "$name rw"
  says "rw: rw, held"
  says "writes"
  run mortise show "$name permits"
  says "1 of 3 permits in use"
  run mortise show "$name free"
  fails_with 0
  [ "$output" = "$name free: free, 0 waiting" ]
}

@test "show has the value of a hold" {
  MORTISE_URL="$MORTISE_URL?value=10.0.0.5:8080" begin
  shows_value() { mortise show "$name" | grep -q '10[.]0[.]0[.]5:8080'; }
  until_it shows_value
  [ "$(mortise show --json "$name" | jq -r '.entries[0].value')" = 10.0.0.5:8080 ]
}

@test "show --json has the same" {
  begin
  mortise show "$name" --json | python3 -c '
import json, os, sys
seen = json.load(sys.stdin)
(one,) = seen["entries"]
assert seen["is_held"] and seen["name"] == os.environ["name"] and one["held_ms"] >= 0, seen'
}

@test "doctor names what is unsafe, what could happen, and the remedy" {
  local server=(redis-cli -s "${MORTISE_TEST_URL#unix://}")
  "${server[@]}" config set maxmemory-policy allkeys-lru maxmemory 1gb
  run mortise doctor
  fails_with 2
  says "bad     maxmemory_policy"
  says "noeviction"
  "${server[@]}" config set maxmemory-policy noeviction maxmemory 0
  run mortise doctor
  fails_with 1
  says "warn    persistence"
  [[ $output != *$'\033'* ]]
  "${server[@]}" config set appendonly yes appendfsync always
  run mortise doctor --all
  says "ok      persistence"
  well=$(grep -c '^ok ' <<<"$output")
  says "findings, $well of them ok"
  "${server[@]}" config set appendonly no
}

@test "doctor lists all findings of a server that health_check=strict refuses" {
  local server=(redis-cli -s "${MORTISE_TEST_URL#unix://}")
  "${server[@]}" config set maxmemory-policy allkeys-lru maxmemory 1gb
  for options in health_check=strict "lease=5s&health%5Fcheck=strict&label=x"; do
    MORTISE_URL="$MORTISE_TEST_URL?$options" run mortise doctor
    fails_with 2
    says "bad     maxmemory_policy"
    says "warn    persistence"
  done
  run mortise doctor --url "shard:$MORTISE_TEST_TCP_URL?health_check=strict,$MORTISE_TEST_URL?health_check=strict"
  "${server[@]}" config set maxmemory-policy noeviction maxmemory 0
  fails_with 2
  says "warn    persistence"
}

@test "doctor --json has the same" {
  mortise doctor --json >"$folder/found" || [ $? = 1 ]
  python3 -c '
import json, sys
found = json.load(open(sys.argv[1]))
assert found["worst"] == "warn" and len(found["findings"]) > 10, found' "$folder/found"
}

@test "a fault is reported" {
  for command in list show doctor; do
    run mortise "$command" --no-such
    fails_with 64
    says "mortise $command: "
    words=()
    if [ "$command" = show ]; then words=("$name"); fi
    run mortise "$command" --url redis://127.0.0.1:1 "${words[@]}"
    fails_with 69
  done
  run mortise show
  fails_with 64
  run mortise list extra
  fails_with 64
  for wait in 0 61s soon; do
    run mortise list --wait "$wait"
    fails_with 64
    says "--wait"
  done
}

@test "on a terminal there are heads, and a line is as wide as that" {
  begin --label "a label that is much too long for such a terminal"
  screen="tmux -L look-$$"
  env -u TMUX $screen -f /dev/null new-session -d -x 60 -y 24 "PS1='> ' exec bash --norc --noprofile" 3>&-
  $screen send-keys "clear; mortise list; echo done" Enter
  until_it bash -c "$screen capture-pane -p | grep -q '^done'"
  run $screen capture-pane -p
  $screen kill-server
  [[ ${lines[0]} == NAME*KIND*HOLDER* ]]
  [[ ${lines[1]} == *…* ]]
  [[ ${lines[2]} == done ]]
}

@test "a name commands no terminal" {
  name=$'\x9b2J \xc2\x9b2J \xc3\xa4'
  begin
  run mortise show "$name"
  fails_with 0
  says '\x9B2J \xC2\x9B2J ä: mutex'
  run mortise list
  fails_with 0
  says '\xC2\x9B2J ä  mutex'
  LC_ALL=C
  [[ ${output//ä/} != *$'\x9b'* ]]
}

@test "show and release find a lock in the format of another program" {
  for kind in token hash "two_key -x" "two_key -s" timestamp; do
    MORTISE_URL="$MORTISE_TEST_URL?protocol=${kind% *}"
    name="of ${kind}"
    local mode=()
    [[ $kind != *-* ]] || mode=("-${kind#*-}")
    mortise exec --lease 300s "${mode[@]}" "$name" -- sleep 100 2>/dev/null 3>&- &
    started+=($!)
    shows() { mortise show "$name" | grep -q ": $1, held"; }
    if [[ ${#mode[@]} == 0 ]]; then until_it shows mutex; else until_it shows rw; fi
  done
  MORTISE_URL=$MORTISE_TEST_URL?protocol=hash
  run mortise release --force --yes "of hash"
  fails_with 69
  says "cannot end a hold of hash by force"
}
