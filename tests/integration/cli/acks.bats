# The option acks: after a failover a hold waits for replicas of the new master, and is not lost.
load helpers
load deployments

teardown() {
  local process
  for process in "${started[@]}"; do kill -TERM "$process" 2>/dev/null || true; done
  end_servers
}

# A command that prints its number and ends on request: waits <file>
waits_for_end='echo $$ >"$1"; while [ ! -e "$folder/end" ]; do sleep 0.1; done; exit 5'

start_acknowledged() {
  ports=() buses=() control=()
  start_sentinels
  MORTISE_URL+=?acks=1
}

# The replica becomes the master, and has no replica.
fail_over() {
  at 0 kill
  until_it promotes
}
promotes() { asks 2 sentinel failover main >/dev/null; asks 1 info replication | grep -q role:master; }
# A client has renewed its hold there.
awaits_replicas() { asks 1 client list | grep -q "cmd=wait"; }

# The new master, without acks.
alone() { MORTISE_URL=redis://127.0.0.1:${ports[1]} "$@"; }

@test "a command ends while its hold waits for replicas: its exit code counts" {
  start_acknowledged
  script=$waits_for_end begin --lease 60s
  fail_over
  until_it awaits_replicas
  touch end
  ends_with "$launcher" 5
  alone is_free
}

@test "a command under an id ends while its hold waits for replicas: the id stays" {
  start_acknowledged
  id=$(mortise acquire --hold-for 60s "$name")
  MORTISE_URL+="&command_timeout=60s"
  mortise exec --hold "$id" -- sh -c "$waits_for_end" sh "$folder/command" 2>"$words" 3>&- &
  launcher=$!
  started+=("$launcher")
  until_it is_there "$folder/command"
  fail_over
  until_it awaits_replicas
  touch end
  until_it is_gone "$(cat "$folder/command")"
  start_replica 1
  ends_with "$launcher" 5
  run alone is_free
  fails_with 1
  alone mortise renew --hold-for 60s "$id"
  alone mortise release --hold "$id"
}

@test "a command is not started while its hold waits for replicas" {
  start_acknowledged
  mkfifo token
  mortise exec --lease 60s --token-file token "$name" -- touch run 2>"$words" 3>&- &
  launcher=$!
  started+=("$launcher")
  until_it is_taken
  fail_over
  ends_with "$launcher" 79
  grep -q "did not acknowledge the lock" "$words"
  [ ! -e run ]
  alone is_free
}
is_taken() { mortise show "$name" | grep -q holds; }
