# What the scenarios share. Each has a folder of its own and a lock of its own name.
bats_require_minimum_version 1.5.0

setup() {
  folder=$BATS_TEST_TMPDIR
  name="lock of $BATS_TEST_FILENAME $BATS_TEST_NUMBER"
  export MORTISE_URL=$MORTISE_TEST_URL folder name
  words=$folder/words
  started=()
  begin_by=()
  PATH=$(dirname "$MORTISE"):$PATH
  cd "$folder" || return
}

teardown() {
  local process
  for process in "${started[@]}"; do kill -TERM "$process" 2>/dev/null || true; done
}

# until_it <command>…: waits until it succeeds, and fails when that takes too long on any machine.
until_it() {
  local tries
  for ((tries = 0; tries < 1200; ++tries)); do
    if "$@" >/dev/null 2>&1; then return 0; fi
    sleep 0.05
  done
  echo "in vain: $*" >&2
  return 1
}

is_there() { [[ -s $1 ]]; }

is_gone() { ! kill -0 "$1" 2>/dev/null || grep -q '^State:.*Z' "/proc/$1/status"; }

# A command that prints its number and continues: sleeps <file>
sleeps='echo $$ >"$1"; exec sleep 100'

# Starts `mortise exec` in the background with such a command, by the program $begin_by if there is
# one, and waits until it runs. Sets $launcher, $holder_process and $command to their process ids,
# and writes stderr to $words.
begin() {
  # Bash lets what it starts in the background ignore these two.
  env --default-signal=INT,QUIT "${begin_by[@]}" mortise exec "$@" "$name" -- \
    sh -c "${script:-$sleeps}" sh "$folder/command" 2>"$words" 3>&- &
  launcher=$!
  started+=("$launcher")
  until_it is_there "$folder/command"
  command=$(cat "$folder/command")
  holder_process=$(pgrep -P "$launcher" -x mortise)
}

is_free() { mortise exec -n "$name" -- true; }

# The lock has a waiter.
waits() { mortise show "$name" | grep -q waits; }

two_wait() { [ "$(redis-cli -s "${MORTISE_TEST_URL#unix://}" llen "{mortise:$name}:q")" = 2 ]; }

# ends_with <process> <code>: waits for it.
ends_with() {
  local code=0
  wait "$1" || code=$?
  [[ $code == "$2" ]] || {
    echo "ended with $code, not $2" >&2
    return 1
  }
}

fails_with() {
  # shellcheck disable=SC2154 # bats has set it.
  [[ $status == "$1" ]] || {
    echo "ended with $status, not $1: $output" >&2
    return 1
  }
}

says() {
  [[ $output == *"$1"* ]] || {
    echo "does not say \"$1\": $output" >&2
    return 1
  }
}
