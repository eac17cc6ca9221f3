# `mortise release --force`: a client ends a hold of another.
load helpers

teardown() {
  if [[ -n ${screen:-} ]]; then $screen kill-server || true; fi
  local process
  for process in "${started[@]}"; do kill -TERM "$process" 2>/dev/null || true; done
}

holds() { mortise show "$name" | grep -q "holds"; }

@test "release ends the hold, and the command under it" {
  begin --lease 300s --label nightly
  run --separate-stderr mortise release --force --yes "$name"
  fails_with 0
  [ -z "$output" ]
  [[ $stderr == "mortise release: released the hold of $(hostname):$holder_process (nightly) on $name" ]]
  ends_with "$launcher" 79
  until_it is_gone "$command"
  grep -q "the hold was ended by force" "$folder/words"
  is_free
}

@test "a waiter is next after release" {
  begin --lease 300s
  mortise exec -w 60 "$name" -- sh -c 'echo "$MORTISE_TOKEN" >next' 3>&- &
  waiter=$!
  until_it waits
  mortise release --force --yes "$name"
  ends_with "$waiter" 0
  is_there next
}

@test "release hits only the named holder" {
  mortise exec --permits 3 --label one "$name" -- sleep 100 3>&- &
  started+=($!)
  mortise exec --permits 3 --label two "$name" -- sleep 100 3>&- &
  started+=($!)
  until_it sh -c 'mortise show "$name" | grep -c "holds 1" | grep -q 2'
  second=$(mortise show --json "$name" | python3 -c '
import json, sys
print(*[one["pid"] for one in json.load(sys.stdin)["entries"] if one["label"] == "two"])')
  run mortise release --force --yes --pid "$second" --host elsewhere "$name"
  fails_with 1
  says "no such holder"
  run mortise release --force --yes --pid "$second" --host "$(hostname)" "$name"
  fails_with 0
  ends_with "${started[1]}" 79
  run mortise show "$name"
  says "one"
  [[ $output != *two* ]]
}

@test "an empty host and a process without a number select no holder" {
  begin --lease 300s
  for selected in "--host " "--pid 0" "--pid -3"; do
    run mortise release --force --yes "${selected% *}" "${selected#* }" "$name"
    fails_with 64
    says "omit it"
    holds
  done
}

@test "an exported hold is of an unknown client" {
  mortise acquire --hold-for 300s "$name" >id
  run mortise release --force --yes "$name"
  fails_with 0
  says "released the hold of an unknown client on $name"
  is_free
}

@test "release ends all readers" {
  mortise exec -s "$name" -- sleep 100 3>&- &
  started+=($!)
  mortise exec -s "$name" -- sleep 100 3>&- &
  started+=($!)
  until_it sh -c 'mortise show "$name" | grep -c reads | grep -q 2'
  run mortise release --force --yes "$name"
  fails_with 0
  [ "${#lines[@]}" = 2 ]
  ends_with "${started[0]}" 79
  ends_with "${started[1]}" 79
  is_free
}

@test "a lock that is free is not released" {
  run mortise release --force --yes "$name"
  fails_with 1
  says "$name is free"
}

@test "release asks for --force, and without a terminal for --yes" {
  begin
  run mortise release "$name"
  fails_with 64
  says "give --force"
  run mortise release --force "$name" </dev/null
  fails_with 64
  says "give --yes"
  run mortise release --force --yes
  fails_with 64
  says "NAME is missing"
  run mortise release --force --yes --pid many "$name"
  fails_with 64
  holds
}

@test "on a terminal release asks" {
  begin --lease 300s --label nightly
  screen="tmux -L $BATS_TEST_NUMBER-release-$$"
  env -u TMUX $screen -f /dev/null new-session -d -x 200 -y 24 \
    "PS1='ready> ' exec bash --norc --noprofile" 3>&-
  shows() { $screen capture-pane -p | grep -q -- "$1"; }
  until_it shows "ready>"
  $screen send-keys "mortise release --force '$name'; echo code \$?" Enter
  until_it shows "(nightly) holds $name"
  until_it shows "Release this hold"
  $screen send-keys n Enter
  until_it shows "^code 1"
  holds
  $screen send-keys "clear; mortise release --force '$name'; echo code \$?" Enter
  until_it shows "Release this hold"
  $screen send-keys y Enter
  until_it shows "^code 0"
  ends_with "$launcher" 79
}
