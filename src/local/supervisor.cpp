#include "local/supervisor.hpp"

namespace mortise::local {

// A script rather than a process of the library: it must outlive the program that started it, which
// may be a JVM of gigabytes. A library has no executable to run.
const char* const supervisor_script = R"SCRIPT(
folder=$1 server=$2 client=$3 idle_limit=$4
socket=$folder/local.sock hidden=$folder/local.hidden
umask 077
cd /

# Counts the keys of all databases, but for two that outlive their clients, in each namespace.
count_locks='local locks = 0 for database = 0, 15 do redis.call([[SELECT]], database)'
count_locks="$count_locks locks = locks + redis.call([[DBSIZE]])"
for key in fence server; do
  count_locks="$count_locks - #redis.call([[KEYS]], [[*mortise:$key]])"
done
count_locks="$count_locks end return locks"

# Looks at the server behind socket $1, in one connection. Fails when it does not answer in time.
look() {
  process='' clients='' connections='' locks=''
  answer=$(printf '%s\n' 'INFO server' 'INFO clients' 'INFO stats' \
    "EVAL \"$count_locks\" 0" | timeout 1 "$client" -s "$1" | tr -d '\r')
  while IFS=: read -r field value; do
    case $field in
      process_id) process=$value ;;
      connected_clients) clients=$value ;;
      total_connections_received) connections=$value ;;
      *[!0-9]* | '') ;;
      *) locks=$field ;;
    esac
  done <<END
$answer
END
  [ -n "$process" ] && [ -n "$locks" ]
}

# Only this look is connected, no client has come since the last look, and no lock is kept. All
# connections count, because a client that has just found the server may be about to connect for
# good.
is_quiet() {
  last=$known known=$connections
  [ -n "$last" ] && [ "$connections" -eq $((last + 1)) ] && [ "$clients" -eq 1 ] &&
    [ "$locks" -eq 0 ]
}

# Not politely: on SIGTERM it would remove the socket of that name, which may be another server's.
end() {
  kill -KILL "$server_process"
  wait "$server_process"
  exit
}

# For good: a copy of the descriptor may live in a process that was forked while it was open.
unlock() {
  flock -u 3
  exec 3>&-
}

keep() {
  "$server" --port 0 --unixsocket "$socket" --unixsocketperm 700 --databases 16 --save '' \
    --appendonly no --maxmemory 0 --maxmemory-policy noeviction --daemonize no --dir "$folder" \
    --logfile '' >"$folder/local.log" 3>&- &
  server_process=$!
  # The lock is kept until the server answers or is dead, so that no second server is started even
  # if the process that started us dies now.
  tries=0
  until look "$socket"; do
    kill -0 "$server_process" || {
      unlock
      exit
    }
    tries=$((tries + 1))
    [ "$tries" -lt 500 ] || break
    sleep 0.02
  done
  unlock

  period=5 idle=0 known=''
  [ "$idle_limit" -ge 10 ] || period=1
  while :; do
    sleep "$period"
    kill -0 "$server_process" || exit
    # Without its socket nobody can reach it, and another may be started in its place.
    [ -S "$socket" ] || end
    look "$socket" || continue
    [ "$process" = "$server_process" ] || end
    idle=$((idle + period))
    is_quiet || idle=0
    [ "$idle" -ge "$idle_limit" ] || continue

    # Under the lock no client finds that the server runs, and none starts another. The next look
    # sees a client that found the server before. The look after the rename sees a client that came
    # by the name alone, or that client finds no server. (A plain `exec` that failed would end us.)
    idle=0
    command exec 3>>"$folder/local.lock" || continue
    if flock -n 3 && look "$socket" && is_quiet && mv "$socket" "$hidden"; then
      if look "$hidden" && is_quiet; then
        rm -f "$hidden"
        end
      fi
      mv "$hidden" "$socket"
    fi
    unlock
  done
}

keep &
)SCRIPT";

}  // namespace mortise::local
