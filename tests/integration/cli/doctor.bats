# `mortise doctor` of servers that are set up as on the pages: it finds nothing, neither when they
# are new nor in use. health_server_test.cpp has its findings at other servers.
load helpers
load deployments

keeps_all=(--appendonly yes --appendfsync always)

setup_scenario() {
  ports=() buses=() control=()
}

teardown() {
  local process
  for process in "${started[@]}"; do kill -TERM "$process" 2>/dev/null || true; done
  end_servers
}

# What it finds is in $output. Round trips are also long while the machine stands still.
checks_health_in_time() {
  run --separate-stderr mortise doctor --json
  [ "$(jq '[.findings[] | select(.name == "round_trip" and .severity == "warn")] | length' \
    <<<"$output")" = 0 ]
}

# finds_only [<finding>…]: no server has another finding.
finds_only() {
  local expected found
  until_it checks_health_in_time
  expected=$(printf '%s\n' "$@" | sort -u)
  found=$(jq -r '.findings[] | select(.severity != "ok") | .name' <<<"$output" | sort -u)
  [[ $found == "$expected" ]] || {
    echo "found \"$found\", not \"$expected\": $output" >&2
    return 1
  }
  fails_with $(($# > 0))
}

# in_use <name>…: each lock is held, and has a waiter. Until then, readers have held others.
in_use() {
  local lock
  for lock; do
    mortise exec --shared "shared $lock" -- true
    mortise exec "$lock" -- sleep 300 2>/dev/null 3>&- &
    started+=($!)
    until_it holds "$lock"
    mortise exec "$lock" -- sleep 300 2>/dev/null 3>&- &
    started+=($!)
  done
}
holds() { mortise show "$1" | grep -q '^holds'; }

@test "one server, new, in use and restarted" {
  setup_scenario
  start_server "${keeps_all[@]}"
  MORTISE_URL=redis://127.0.0.1:${ports[0]}
  finds_only
  in_use a b
  finds_only
  # The waiters reconnect, which is noted in the counter's TTL (hazard 30).
  at 0 kill
  at 0 start
  finds_only
}

@test "one server that durability=fsync waits for" {
  setup_scenario
  start_server --appendonly yes
  asks 0 command info waitaof | grep -q waitaof || skip "this server has no WAITAOF"
  MORTISE_URL="redis://127.0.0.1:${ports[0]}?durability=fsync"
  finds_only
  in_use a b
  finds_only
}

@test "a master that Sentinels name, and its replica" {
  setup_scenario
  start_sentinels "${keeps_all[@]}"
  finds_only min_replicas replicas
  MORTISE_URL+=?acks=all
  finds_only
  in_use a b
  finds_only
}

@test "a master whose replicas are counted" {
  setup_scenario
  start_server "${keeps_all[@]}"
  start_replica 0 "${keeps_all[@]}"
  MORTISE_URL="redis://127.0.0.1:${ports[0]}?acks=1"
  finds_only
  in_use a b
  finds_only
}

@test "a cluster" {
  setup_scenario
  start_cluster "${keeps_all[@]}"
  finds_only
  in_use a b c d e f
  finds_only
  at 1 kill
  at 1 start
  until_it is_whole 1
  finds_only
}

@test "a quorum in quarantine" {
  setup_scenario
  start_quorum quarantine=60s
  finds_only
}

@test "a quorum, also when one has restarted" {
  setup_scenario
  start_quorum "quarantine=3s&lease=2s"
  in_use a b
  finds_only
  # The tokens of the next grants go beyond the end of its quarantine, at all servers.
  at 1 kill
  at 1 start
  finds_only
  mortise exec c -- true
  finds_only
}

@test "shards" {
  setup_scenario
  start_server "${keeps_all[@]}"
  start_server "${keeps_all[@]}"
  MORTISE_URL=shard:redis://127.0.0.1:${ports[0]},redis://127.0.0.1:${ports[1]}
  finds_only
  in_use a b c d
  finds_only
}

@test "the private server of local:" {
  setup_scenario
  export MORTISE_LOCAL_DIR=$folder/local
  MORTISE_URL=local:
  finds_only
  in_use a b
  finds_only
}
