# The output of `mortise list`, `show`, `top` and `doctor` when one of several servers hangs or is
# dead. It has the answers of the others and the name of the missing one, and an exit code of its
# own.
load helpers
load deployments

setup_scenario() {
  ports=() buses=() control=()
}

teardown() {
  local process
  if [[ -n ${screen:-} ]]; then $screen kill-server || true; fi
  for process in "${started[@]}"; do kill -TERM "$process" 2>/dev/null || true; done
  end_servers
}

# holds <name>: and waits until that is so.
holds() {
  mortise exec --label "of $1" "$1" -- sleep 300 2>/dev/null 3>&- &
  started+=($!)
  until_it shows_holder "$1"
}
shows_holder() { mortise show "$1" | grep -q '^holds'; }

# The missing server is named on stderr, and the code is 75.
goes_on_without() {
  echo "$stderr" >&2
  fails_with 75
  [[ $stderr == *"server 127.0.0.1:${ports[$1]} is omitted: "* ]]
}

# looks_without <server> <name that is known without it>: every command that looks.
looks_without() {
  local place=127.0.0.1:${ports[$1]}
  run --separate-stderr mortise list
  goes_on_without "$1"
  says "$2  mutex  $(hostname):"
  run --separate-stderr mortise list -o wide
  goes_on_without "$1"
  says "of $2"
  run --separate-stderr mortise list --all --json
  goes_on_without "$1"
  [ "$(jq -r '.missing[].server' <<<"$output")" = "$place" ]
  [ "$(jq -r --arg name "$2" '.entries[] | select(.name == $name) | .holds' <<<"$output")" = 1 ]
  run --separate-stderr mortise show "$2"
  goes_on_without "$1"
  [[ ${lines[1]} =~ ^"holds  "[0-9]+m?s"  ".*"of $2"$ ]]
  run --separate-stderr mortise show --json "$2"
  goes_on_without "$1"
  [ "$(jq -r '.missing[].server, .entries[0].label' <<<"$output")" = "$place"$'\n'"of $2" ]
  run --separate-stderr mortise top --once --every 2s
  goes_on_without "$1"
  says "$2  mutex  $(hostname):"
  run --separate-stderr mortise top --json --every 2s
  goes_on_without "$1"
  [ "$(jq -r '.missing[].server' <<<"$output")" = "$place" ]
  [ "$(jq -r --arg name "$2" '.locks[].name | select(. == $name)' <<<"$output")" = "$2" ]
  run mortise doctor
  fails_with "$3"
  says "reachable at $place: "
  says "persistence at 127.0.0.1:${ports[($1 + 1) % 3]}: "
}

@test "of a cluster, a server that hangs or is dead is named, and the others are shown" {
  setup_scenario
  start_cluster
  local known
  known=$(name_at 2)
  holds "$known"
  at 0 pause
  looks_without 0 "$known" 2
  at 0 resume
  at 1 kill
  looks_without 1 "$known" 2
}

# A renewal repeats a vote that a server missed.
has_all_votes() {
  local number
  for number in 0 1 2; do
    [ "$(asks "$number" exists "{mortise:$name}")" = 1 ] || return 1
  done
}

@test "of a quorum, a server that hangs or is dead is named, and the others are shown" {
  setup_scenario
  start_quorum
  holds "$name"
  until_it has_all_votes
  at 0 pause
  looks_without 0 "$name" 1
  at 0 resume
  until_it has_all_votes
  at 2 kill
  looks_without 2 "$name" 1
}

# holds_at <server>: a lock of that shard, whose name is in $known then.
holds_at() {
  local number
  for ((number = 0; ; ++number)); do
    known=n$number
    holds "$known"
    if [ "$(asks "$1" exists "{mortise:$known}")" = 1 ]; then break; fi
  done
}

@test "of shards, a server that hangs or is dead is named, and the others are shown" {
  setup_scenario
  start_shards
  holds_at 2
  at 0 pause
  looks_without 0 "$known" 2
  at 0 resume
  at 1 kill
  looks_without 1 "$known" 2
}

@test "top goes on without a shard, and with it when it is back" {
  setup_scenario
  start_shards
  holds_at 2
  at 1 pause
  starts_top
  until_it shows "^server 127.0.0.1:${ports[1]} is omitted" "^$known "
  at 1 resume
  until_it shows_no "is omitted"
}

@test "a lock of a quorum with a short quarantine is shown" {
  setup_scenario
  start_quorum quarantine=2s
  run mortise show "$name"
  fails_with 0
}

@test "show names the missing server also where the lock is free" {
  setup_scenario
  start_quorum
  at 1 kill
  run --separate-stderr mortise show "$name"
  goes_on_without 1
  says "$name: free, 0 waiting"
}

@test "a lock whose server of the cluster is missing is not shown, and the server is named" {
  setup_scenario
  start_cluster
  local gone
  gone=$(name_at 1)
  at 1 kill
  run mortise show "$gone"
  fails_with 69
  says "127.0.0.1:${ports[1]}"
}

starts_top() {
  screen="tmux -L $BATS_TEST_NUMBER-missing-$$"
  env -u TMUX $screen -f /dev/null new-session -d -x 160 -y 24 "mortise top --every 500ms; read" 3>&-
}
# shows <pattern>…: all at one time.
shows() {
  local pattern text
  text=$($screen capture-pane -p)
  for pattern; do grep -q -- "$pattern" <<<"$text" || return 1; done
}
shows_no() { ! shows "$1"; }

@test "top goes on without a server of a cluster, and with it when it is back" {
  setup_scenario
  start_cluster
  local lost known
  lost=$(name_at 1) known=$(name_at 2)
  holds "$known"
  holds "$lost"
  starts_top
  until_it shows "^2 locks"
  at 1 pause
  until_it shows "^server 127.0.0.1:${ports[1]} is omitted" "^$known "
  at 1 resume
  until_it shows "^2 locks"
  until_it shows_no "is omitted"
  at 1 kill
  until_it shows "^server 127.0.0.1:${ports[1]} is omitted"
  at 1 start
  until_it shows_no "is omitted"
}

@test "top goes on while the only server hangs" {
  setup_scenario
  start_server
  MORTISE_URL=redis://127.0.0.1:${ports[0]}
  holds "$name"
  starts_top
  until_it shows "^1 lock$"
  at 0 pause
  until_it shows "^0 locks; .*did not answer"
  at 0 resume
  until_it shows "^1 lock$"
}
