# A fault is reported with its name, its value and the remedy. Nothing runs, and nothing is held.
load helpers
load deployments

ports=() buses=() control=()

teardown() {
  local process
  for process in "${started[@]}"; do kill -TERM "$process" 2>/dev/null || true; done
  end_servers
}

# refused <code> <words> <option>…: `mortise exec` with them.
refused() {
  local code=$1 words=$2
  shift 2
  run mortise exec "$@" "$name" -- touch "$folder/ran"
  fails_with "$code"
  says "mortise exec: "
  says "$words"
  [ ! -e "$folder/ran" ]
  mortise exec -n "$name" -- true
}

@test "an option that there is not" {
  refused 64 "not expected: --no-such" --no-such
  refused 64 "not expected: -z" -nz
}

@test "lengths of time that are none" {
  for time in 5x -1 s 1e9 1000d 0.0001 nan inf; do
    refused 64 "--lease \"$time\"" --lease="$time"
  done
  refused 64 "--lease \"\"" --lease ""
  refused 64 "--wait \"soon\"" --wait soon
}

@test "an option with = and nothing behind it takes no other argument" {
  local unset=
  for option in --label --lease --url --on-lost --verbose; do
    refused 64 "$option= has no value; give one, or omit $option" "$option=$unset"
  done
  for words in "acquire --hold-for= 60s" "release --force --yes --host= $(hostname)" "show --url="; do
    # shellcheck disable=SC2086 # words
    run mortise $words "$name"
    fails_with 64
    says "= has no value"
  done
  is_free
  # What belongs to an option or to the command is not read.
  mortise exec --label --no-such= "$name" -- test --label= = --label=
}

@test "a closed descriptor never becomes a connection" {
  run sh -c 'exec 0<&- 1>&- 2>&-
    exec mortise exec "$name" -- sh -c "readlink /proc/\$PPID/fd/[012] >links"'
  fails_with 0
  [ "$(cat links)" == "$(printf '/dev/null\n%.0s' 1 2 3)" ]
}

@test "a lease that is too short" {
  refused 64 "50ms" --lease 10ms
}

@test "a grace that is too long for the lease" {
  refused 64 "--grace 5s" --lease 9s --grace 5s
  refused 64 "a longer --lease" --lease 9s --grace 5s
}

@test "a grace as long as the command may run" {
  refused 64 "--grace 5s" --at-most 5s --grace 5s
}

@test "a release at the death of the process that holds the lock" {
  local url=$MORTISE_URL mark='?'
  [[ $url != *\?* ]] || mark='&'
  refused 64 "omit the option" --url "$url${mark}release_on_death=on"
  refused 64 "omit the option" --url "$url${mark}release%5Fon_death=on"
  mortise exec -n --url "$url${mark}release_on_death=off" "$name" -- true
}

@test "a password in a misplaced URL is not repeated" {
  for url in "redis://me:secret@nowhere.invalid" \
    "redis+sentinel://nowhere.invalid/main?sentinel%5Fpassword=secret"; do
    for words in "exec --ulr=$url name -- true" "exec --ulr $url name -- true" \
      "exec --wait=$url name -- true" "exec --permits $url name -- true" \
      "show name $url" "release --pid=$url --force name" "$url"; do
      # shellcheck disable=SC2086 # words
      run mortise $words
      fails_with 64
      says "mortise"
      [[ $output != *secret* ]] || {
        echo "says it: $output" >&2
        return 1
      }
    done
  done
}

@test "permits that there cannot be" {
  refused 64 "--permits 0" --permits 0
  refused 64 "--permits 1000001" --permits 1000001
  refused 64 "--permits" --permits many
}

@test "an exit code that there is not" {
  refused 64 "-E 256" -E 256
  refused 64 "-E -1" -E -1
}

@test "what contradicts itself" {
  refused 64 "one of them" -n -w 5
  refused 64 "one of them" -s -x
  refused 64 "one of them" -s --permits 2
  run mortise exec -c true "$name" -- true
  fails_with 64
}

@test "periods that nobody can keep" {
  refused 64 "--once-per" --once-per 0
  refused 64 "--once-per" --once-per 10ms
  refused 64 "--at-most" --at-most 0
  refused 64 "--progress" --progress 0
  refused 64 "--progress" --progress soon
  refused 64 "--once-per PERIOD" --only-success
}

@test "times that no lease of a quorum can have, because a server may forget it" {
  start_quorum "quarantine=9s&lease=8s"
  for time in "--once-per 1h" "--once-per 8s" "--at-least 10s"; do
    for kind in "" -s; do
      # shellcheck disable=SC2086 # words
      run mortise exec $time $kind "$name" -- touch "$folder/ran"
      fails_with 64
      says "$time needs a lease"
      says "a longer quarantine"
      [ ! -e "$folder/ran" ]
    done
  done
  mortise exec --once-per 4s --at-least 8s "$name" -- true
}

@test "no name, no command, too many names" {
  run mortise exec -- true
  fails_with 64
  says "NAME"
  run mortise exec "$name"
  fails_with 64
  says "--"
  run mortise exec $(seq 65) -- true
  fails_with 64
  says "64"
}

@test "an empty name, one that is too long, one name twice" {
  run mortise exec "" -- true
  fails_with 64
  run mortise exec "$(printf 'x%.0s' $(seq 1025))" -- true
  fails_with 64
  run mortise exec twice twice -- true
  fails_with 64
}

@test "a command that there is not, and one that cannot be executed" {
  run -127 mortise exec "$name" -- "$folder/none"
  fails_with 127
  says "$folder/none"
  echo text >"$folder/text"
  run mortise exec "$name" -- "$folder/text"
  fails_with 126
  run mortise exec "$name" -- "$folder"
  fails_with 126
  is_free
}

@test "a server that is not there, and a URL that is none" {
  run mortise exec --url redis://127.0.0.1:1 "$name" -- touch "$folder/ran"
  fails_with 69
  says "127.0.0.1:1"
  run mortise exec --url nonsense "$name" -- touch "$folder/ran"
  fails_with 64
  [ ! -e "$folder/ran" ]
}

@test "no URL at all" {
  unset MORTISE_URL
  run mortise exec "$name" -- touch "$folder/ran"
  fails_with 64
  says "MORTISE_URL"
}

@test "a name that is another kind of lock" {
  begin -x
  for wait in -n "-w 1m"; do
    run mortise exec $wait "$name" -- touch "$folder/ran"
    fails_with 65
    says "$name"
  done
  [ ! -e "$folder/ran" ]
}

@test "a server that lets us do nothing" {
  redis-cli -s "${MORTISE_TEST_URL#unix://}" ACL SETUSER poor on '>poor' '+@connection' '+client'
  run mortise exec --url "unix://poor:poor@${MORTISE_TEST_URL#unix://}" "$name" -- touch "$folder/ran"
  fails_with 77
  run mortise exec --url "unix://poor:wrong@${MORTISE_TEST_URL#unix://}" "$name" -- touch "$folder/ran"
  fails_with 77
  [ ! -e "$folder/ran" ]
}

@test "a token file without a name" {
  refused 64 '--token-file ""' --token-file ""
}

@test "a token file on a full disk, and in no folder" {
  refused 73 "No space left" --token-file /dev/full
  refused 73 "--token-file" --token-file "$folder/none/token"
}

@test "closed descriptors" {
  run bash -c 'mortise exec "$name" -- true <&- >&- 2>&-'
  fails_with 0
  run bash -c 'mortise exec --no-such "$name" -- true <&- >&- 2>&-'
  fails_with 64
}

@test "what is shown to a closed output is no success" {
  for words in version "list --json" "exec --help"; do
    run bash -c "mortise $words >&-"
    fails_with 74
    says "Bad file descriptor"
  done
}

@test "help into a full disk is no success" {
  run bash -c 'mortise exec --help >/dev/full'
  fails_with 74
}

@test "a command that there is not among ours" {
  run mortise nonsense
  fails_with 64
  says "nonsense"
}

# as_user <exit code> <words> <rules of ACL SETUSER>…: exec as a user with these rights alone.
as_user() {
  local code=$1 words=$2
  shift 2
  redis-cli -s "${MORTISE_TEST_URL#unix://}" ACL SETUSER some reset on '>some' "$@"
  for wait in -n "-w 1m"; do
    run mortise exec --url "unix://some:some@${MORTISE_TEST_URL#unix://}" $wait "$name" -- touch "$folder/ran"
    fails_with "$code"
    says "$words"
    [ ! -e "$folder/ran" ]
  done
}

@test "a right that is missing ends with 77, whichever it is" {
  begin
  as_user 77 "lacks the right" '~other*' '&*' '+@all'
  as_user 77 "lacks the right" '~*' '&*' '+@all' -set -eval -evalsha
}

@test "a lock is waited for without the right to be notified" {
  begin
  redis-cli -s "${MORTISE_TEST_URL#unix://}" ACL SETUSER some reset on '>some' '~*' '+@all'
  run mortise exec --url "unix://some:some@${MORTISE_TEST_URL#unix://}" -w 1m "$name" -- touch "$folder/ran"
  fails_with 77
  says "may not subscribe"
}

@test "a server that is full ends with 75" {
  redis-cli -s "${MORTISE_TEST_URL#unix://}" config set maxmemory 1
  for wait in -n "-w 1m"; do
    run mortise exec $wait "$name" -- touch "$folder/ran"
    fails_with 75
    says "out of memory"
  done
  redis-cli -s "${MORTISE_TEST_URL#unix://}" config set maxmemory 0
  [ ! -e "$folder/ran" ]
}

@test "a replica ends with 69" {
  redis-cli -s "${MORTISE_TEST_URL#unix://}" replicaof 127.0.0.1 1
  run mortise exec -w 2s "$name" -- touch "$folder/ran"
  redis-cli -s "${MORTISE_TEST_URL#unix://}" replicaof no one
  fails_with 69
  [ ! -e "$folder/ran" ]
}

@test "a server that health_check=strict refuses ends with 69" {
  redis-cli -s "${MORTISE_TEST_URL#unix://}" config set maxmemory 1gb
  redis-cli -s "${MORTISE_TEST_URL#unix://}" config set maxmemory-policy allkeys-lru
  run mortise exec --url "$MORTISE_TEST_URL?health_check=strict" "$name" -- touch "$folder/ran"
  redis-cli -s "${MORTISE_TEST_URL#unix://}" config set maxmemory-policy noeviction
  redis-cli -s "${MORTISE_TEST_URL#unix://}" config set maxmemory 0
  fails_with 69
  says "maxmemory"
  [ ! -e "$folder/ran" ]
}
