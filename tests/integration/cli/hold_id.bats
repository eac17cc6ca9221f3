# A hold over several commands: `mortise acquire`, `renew`, `exec --hold` and `release --hold`.
load helpers

acquire() { mortise acquire --hold-for 60s "$@" "$name"; }

@test "a hold continues over commands, with one id" {
  id=$(acquire --label job)
  run mortise exec -n "$name" -- true
  fails_with 1
  run mortise exec --hold "$id" -- sh -c 'echo "$MORTISE_NAME $MORTISE_TOKEN"; exit 5'
  fails_with 5
  [[ $output == "$name "* ]]
  first=${output##* }
  run mortise exec --hold "$id" -- sh -c 'echo "$MORTISE_TOKEN"'
  fails_with 0
  ((output > first))
  mortise renew --hold-for 60s "$id"
  run mortise exec -n "$name" -- true
  fails_with 1
  mortise release --hold "$id"
  is_free
}

@test "an empty time to wait is none" {
  id=$(acquire)
  for wait in "" soon; do
    run timeout 20 mortise acquire --hold-for 60s --wait "$wait" "$name"
    fails_with 64
    says "--wait \"$wait\""
  done
  mortise release --hold "$id"
}

@test "an id that nobody can read is not acquired for" {
  run sh -c 'exec 0<&- 1>&- 2>&-; exec mortise acquire --hold-for 60s "$name"'
  fails_with 74
  is_free
}

@test "an id serves one command at a time" {
  id=$(acquire)
  mortise exec --hold "$id" -- sh -c "$sleeps" sh "$folder/command" 3>&- &
  started+=("$!")
  until_it is_there "$folder/command"
  for other in "exec --hold $id -- true" "renew --hold-for 60s $id" "release --hold $id"; do
    # shellcheck disable=SC2086 # words
    run mortise $other
    fails_with 79
    says "another handle has adopted it"
  done
  kill "$(cat "$folder/command")"
  until_it mortise release --hold "$id"
  is_free
}

@test "a hold that has ended has no id any more" {
  id=$(mortise acquire --hold-for 100ms "$name")
  until_it is_free
  for late in "exec --hold $id -- touch run" "renew --hold-for 60s $id" "release --hold $id"; do
    # shellcheck disable=SC2086 # words
    run mortise $late
    fails_with 79
  done
  [ ! -e run ]
}

@test "a command that does not start leaves the hold" {
  id=$(acquire)
  run mortise exec --hold "$id" -- "$folder/nothing"
  fails_with 127
  run mortise exec --hold "$id" --grace 1h -- true
  fails_with 64
  mortise renew --hold-for 60s "$id"
  mortise release --hold "$id"
  is_free
}

@test "a killed launcher leaves the hold, and a killed holder its lease" {
  id=$(acquire)
  for victim in launcher holder; do
    rm -f "$folder/command"
    mortise exec --lease 2s --hold "$id" -- sh -c "$sleeps" sh "$folder/command" 3>&- &
    launcher=$!
    started+=("$launcher")
    until_it is_there "$folder/command"
    holder=$(pgrep -P "$launcher" -x mortise)
    sleep 1 # its first renewal
    kill -KILL "${!victim}"
    if [[ $victim == launcher ]]; then until_it mortise renew --hold-for 60s "$id"; fi
  done
  until_it is_free
  run mortise renew --hold-for 60s "$id"
  fails_with 79
}

@test "an id that cannot be written leaves no hold" {
  run sh -c 'mortise acquire --hold-for 60s "$0" >/dev/full' "$name"
  fails_with 74
  says "the lock was released"
  is_free
}

@test "an id into a pipe without a reader leaves no hold" {
  mkfifo pipe
  exec 4<>pipe 5>pipe 4>&-
  run bash -c 'mortise acquire --hold-for 60s "$name" 2>&1 >&5'
  exec 5>&-
  fails_with 74
  says "the lock was released"
  is_free
}

asks() { redis-cli -s "${MORTISE_TEST_URL#unix://}" --no-raw "$@" "{mortise:$name}"; }

# Its lease is the time of --hold-for.
is_exported() { [[ $(asks pttl) =~ ([0-9]+) ]] && ((BASH_REMATCH[1] > 30000)); }

# Starts a proxy in front of the server. Sets $slow, its URL.
start_network() {
  coproc network { exec "$BATS_TEST_DIRNAME/../../support/proxy" "${MORTISE_TEST_URL#unix://}" 3>&-; }
  local net
  read -r _ net _ <&"${network[0]}"
  slow="unix://$net/proxy.sock?command_timeout=50s"
}
network_does() {
  echo "$*" >&"${network[1]}"
  read -r _ <&"${network[0]}"
}

# A signal to $process while the reply of the server is on its way.
signal_before_the_reply() {
  network_does freeze
  kill -TERM "$process" || true # it is late on a slow machine
  network_does thaw
  wait "$process" || true
}

@test "a signal ends acquire at once while it waits" {
  begin
  mortise acquire --hold-for 60s "$name" >id 3>&- &
  process=$!
  started+=("$process")
  until_it waits
  kill -TERM "$process"
  ends_with "$process" 143
  [ ! -s id ]
}

@test "a signal while the id cannot be written releases the lock" {
  mkfifo pipe
  exec 4<>pipe
  dd if=/dev/zero of=pipe bs=4k count=1000 oflag=nonblock 2>/dev/null || true
  mortise acquire --hold-for 60s "$name" >pipe 3>&- 4>&- &
  process=$!
  started+=("$process")
  until_it is_exported
  kill -TERM "$process"
  ends_with "$process" 143
  is_free
}

@test "a signal during the export ends acquire after the id is printed" {
  begin
  start_network
  mortise acquire --hold-for 60s --url "$slow" "$name" >id 3>&- &
  process=$!
  started+=("$process")
  until_it waits
  network_does delay 1000
  kill "$command"
  until_it is_exported
  signal_before_the_reply
  mortise release --hold "$(cat id)"
  is_free
  exec {network[1]}>&-
}

@test "a signal to renew or release leaves no hold without an id" {
  start_network
  network_does delay 500
  for use in "renew --hold-for 60s" "release --hold"; do
    id=$(acquire)
    before=$(asks dump)
    is_adopted() { [ "$(asks dump)" != "$before" ]; }
    # shellcheck disable=SC2086 # words
    mortise $use "$id" --url "$slow" 3>&- &
    process=$!
    started+=("$process")
    until_it is_adopted
    signal_before_the_reply
    mortise release --hold "$id" || true
    is_free
  done
  exec {network[1]}>&-
}

@test "readers and permits have ids" {
  for mode in --shared --exclusive "--permits 2"; do
    name="$name $mode"
    # shellcheck disable=SC2086 # words
    id=$(acquire $mode)
    run mortise exec --hold "$id" -- sh -c 'echo held'
    fails_with 0
    says held
    mortise release --hold "$id"
  done
}

@test "release --hold reports a release that the server refuses, whatever the URL sets" {
  local server=${MORTISE_TEST_URL#unix://}
  redis-cli -s "$server" ACL SETUSER some reset on '>some' '~*' '&*' '+@all' -del
  for options in release=sent retain=60s "release=sent&retain=60s"; do
    name="$name $options"
    id=$(acquire)
    run mortise release --url "unix://some:some@$server?$options" --hold "$id"
    [ "$status" -ge 64 ]
    says "lacks the right +del"
  done
}

@test "acquire --json names the id, the lock and its token" {
  run --separate-stderr acquire --json
  fails_with 0
  id=$(python3 -c 'import json, sys; print(json.loads(sys.argv[1])["id"])' "$output")
  says '"held_for_ms":60000'
  mortise release --hold "$id"
}

@test "acquire gives up like exec" {
  id=$(acquire)
  run acquire -n
  fails_with 1
  run acquire -w 1500ms
  fails_with 1
  [ -z "$output" ]
  mortise release --hold "$id"
}

@test "a name that is another kind of lock" {
  begin -x
  for limit in --nonblock --wait=20s; do
    run mortise acquire "$limit" --hold-for 60s "$name"
    fails_with 65
    says "$name"
  done
  run mortise acquire -n --permits 1 --hold-for 60s "$name"
  fails_with 65
  kill "$command"
  ends_with "$launcher" 143
  id=$(acquire)
  run mortise acquire -n -x --hold-for 60s "$name"
  fails_with 65
  mortise release --hold "$id"
}

@test "wrong arguments are refused" {
  run mortise acquire "$name"
  fails_with 64
  says "--hold-for is missing"
  run mortise acquire --hold-for 1ms "$name"
  fails_with 64
  says "50ms or more"
  run mortise acquire --hold-for 60s
  fails_with 64
  run mortise renew --hold-for 60s broken
  fails_with 64
  says "id: "
  run mortise renew --hold-for 60s
  fails_with 64
  run mortise exec --hold broken -- true
  fails_with 64
  run mortise exec --hold broken "$name" -- true
  fails_with 64
  says "contradict"
  run mortise release --hold broken --force
  fails_with 64
}
