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

start_cluster() {
  local number other
  for number in 0 1 2; do
    # Nobody declares the cluster down while a scenario lasts.
    start_server --cluster-enabled yes --cluster-port free --cluster-node-timeout 60000
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
is_whole() { asks "$1" cluster info | grep -q cluster_slots_ok:16384; }

start_quorum() {
  local number urls
  for number in 0 1 2; do
    start_server
    urls+=${urls:+,}redis://127.0.0.1:${ports[number]}
  done
  MORTISE_URL=redlock:${urls/,/?quarantine=0,}
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
