# Servers of a scenario's own, which hang, die and come back: a cluster or a quorum of three.
support=$BATS_TEST_DIRNAME/../../support

# start_server <argument>…: adds to the arrays ports, buses and control.
start_server() {
  local number=${#ports[@]} line end
  mkfifo "server$number"
  "$support/server" --port free "$@" <"server$number" >"server$number.said" 3>&- &
  exec {end}>"server$number"
  control+=("$end")
  until_it is_there "server$number.said"
  read -r -a line <"server$number.said"
  ports+=("${line[2]}")
  buses+=("${line[3]:-}")
}

# at <server> <pause|resume|kill|start>: and waits until that is done.
at() {
  local lines
  lines=$(wc -l <"server$1.said")
  echo "$2" >&"${control[$1]}"
  until_it has_more_lines "server$1.said" "$lines"
}
has_more_lines() { (($(wc -l <"$1") > $2)); }

asks() { redis-cli -p "${ports[$1]}" "${@:2}"; }

# start_replica <master> <argument>…: and waits until it has the master's data.
start_replica() {
  local number=${#ports[@]}
  start_server --replicaof 127.0.0.1 "${ports[$1]}" "${@:2}"
  until_it is_in_step "$1" "$number"
}
is_in_step() { asks "$1" info replication | grep -q "port=${ports[$2]},state=online"; }

# start_sentinels <argument of the master and its replica>…
start_sentinels() {
  start_server "$@"
  asks 0 config set repl-diskless-sync-delay 0 >/dev/null
  start_replica 0 "$@"
  start_server sentinel
  asks 2 sentinel monitor main 127.0.0.1 "${ports[0]}" 1 >/dev/null
  until_it knows_replica 2
  MORTISE_URL=redis+sentinel://127.0.0.1:${ports[2]}/main
}
knows_replica() { asks "$1" sentinel replicas main | grep -q runid; }

# start_cluster <argument>…
start_cluster() {
  local number other
  for number in 0 1 2; do
    # The cluster is not declared down while a scenario runs.
    start_server --cluster-enabled yes --cluster-port free --cluster-node-timeout 60000 "$@"
  done
  for number in 0 1 2; do
    asks $number cluster set-config-epoch $((number + 1)) >/dev/null
    asks $number cluster addslotsrange $((16384 * number / 3)) \
      $((16384 * (number + 1) / 3 - 1)) >/dev/null
    for other in 0 1 2; do
      if [ $number != $other ]; then
        asks $number cluster meet 127.0.0.1 "${ports[$other]}" "${buses[$other]}" >/dev/null
      fi
    done
  done
  for number in 0 1 2; do until_it is_whole $number; done
  MORTISE_URL=redis+cluster://127.0.0.1:${ports[0]},127.0.0.1:${ports[1]},127.0.0.1:${ports[2]}
}
is_whole() {
  [[ $(asks "$1" cluster info) == *cluster_state:ok*cluster_slots_ok:16384* ]]
}

# start_quorum [<option>]
start_quorum() {
  local number
  MORTISE_URL=
  for number in 0 1 2; do
    start_server
    MORTISE_URL+=,redis://127.0.0.1:${ports[number]}?${1:-quarantine=0}
  done
  MORTISE_URL=redlock:${MORTISE_URL#,}
}

start_shards() {
  local number
  MORTISE_URL=
  for number in 0 1 2; do
    start_server
    MORTISE_URL+=,redis://127.0.0.1:${ports[number]}
  done
  MORTISE_URL=shard:${MORTISE_URL#,}
}

# name_at <server>: prints a name whose lock that server of the cluster has.
name_at() {
  local number slot
  for ((number = 0; ; ++number)); do
    slot=$(asks 0 cluster keyslot "{mortise:n$number}")
    if ((slot * 3 / 16384 == $1)); then break; fi
  done
  echo "n$number"
}

end_servers() {
  local end
  for end in "${control[@]}"; do exec {end}>&-; done
}
