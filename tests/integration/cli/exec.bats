# What `mortise exec` does when all goes well, and what it ends with.
load helpers

@test "the command runs, and its output and input are untouched" {
  output=$(echo in | mortise exec "$name" -- sh -c 'cat; echo out; echo err >&2' 2>"$folder/err")
  [ "$output" = $'in\nout' ]
  [ "$(cat "$folder/err")" = err ]
}

@test "the command's exit code is ours" {
  for code in 0 1 3 125 255; do
    run mortise exec "$name" -- sh -c "exit $code"
    fails_with "$code"
  done
}

@test "a command that a signal ends is 128 and the signal" {
  for signal in KILL SEGV TERM USR1; do
    run mortise exec "$name" -- sh -c "ulimit -c 0; kill -$signal \$\$"
    fails_with $((128 + $(kill -l "$signal")))
  done
}

@test "while one holds it others wait" {
  begin
  mortise exec "$name" -- sh -c 'echo second >"$folder/second"' 3>&- &
  waiter=$!
  started+=("$waiter")
  until_it waits
  [ ! -e "$folder/second" ]
  kill "$command"
  ends_with "$waiter" 0
  [ -s "$folder/second" ]
}

@test "--on-contended is run once when others wait, and the command continues" {
  begin --on-contended 'echo "$MORTISE_NAME" >>"$folder/wanted"'
  mortise exec -w 60 "$name" -- true 3>&- &
  first=$!
  until_it is_there "$folder/wanted"
  mortise exec -w 60 "$name" -- true 3>&- &
  second=$!
  started+=("$first" "$second")
  until_it waits
  kill -0 "$command"
  kill "$command"
  ends_with "$first" 0
  ends_with "$second" 0
  [ "$(cat "$folder/wanted")" = "$name" ]
}

@test "--on-contended is run after the start for those that waited before" {
  begin
  mortise exec --on-contended 'echo wanted >"$folder/wanted"' "$name" -- \
    sh -c 'while ! [ -s "$folder/wanted" ]; do sleep 0.05; done' 3>&- &
  next=$!
  until_it waits
  mortise exec -w 60 "$name" -- true 3>&- &
  last=$!
  started+=("$next" "$last")
  until_it two_wait
  kill "$command"
  ends_with "$next" 0
  ends_with "$last" 0
}

@test "-n does not wait, and ends with 1" {
  begin
  run mortise exec -n "$name" -- touch "$folder/ran"
  fails_with 1
  [ -z "$output" ]
  [ ! -e "$folder/ran" ]
}

@test "-w waits so long, also for a part of a second" {
  begin
  run mortise exec -w 1.5 "$name" -- touch "$folder/ran"
  fails_with 1
  run mortise exec -w 1500ms "$name" -- touch "$folder/ran"
  fails_with 1
  [ ! -e "$folder/ran" ]
}

@test "-w 0 is -n" {
  begin
  run mortise exec -w 0 "$name" -- true
  fails_with 1
}

@test "-w gets it in time" {
  begin
  mortise exec -w 60 "$name" -- touch "$folder/ran" 3>&- &
  waiter=$!
  started+=("$waiter")
  kill "$command"
  ends_with "$waiter" 0
  [ -e "$folder/ran" ]
}

@test "after a wait the holder has the whole lease, and the grace that fits it" {
  begin
  mortise exec -w 60 --lease 30s --grace 9s "$name" -- touch "$folder/ran" 3>&- &
  waiter=$!
  started+=("$waiter")
  until_it waits
  kill "$command"
  ends_with "$waiter" 0
  [ -e "$folder/ran" ]
}

@test "-E says what not getting it is, also success" {
  begin
  for code in 0 75 255; do
    run mortise exec -n -E "$code" "$name" -- true
    fails_with "$code"
  done
}

@test "--verbose says that it was not acquired" {
  begin
  run mortise exec -n --verbose "$name" -- true
  fails_with 1
  says "$name"
}

@test "readers run side by side and a writer alone" {
  begin -s
  run mortise exec -n -s "$name" -- true
  fails_with 0
  run mortise exec -n -x "$name" -- true
  fails_with 1
}

@test "a writer keeps readers out" {
  begin -x
  run mortise exec -n -s "$name" -- true
  fails_with 1
}

@test "of N permits there are N" {
  begin --permits 2
  run mortise exec -n --permits 2 "$name" -- mortise exec -n --permits 2 "$name" -- true
  fails_with 1
  run mortise exec -n --permits 2 "$name" -- true
  fails_with 0
}

@test "of several names all are held or none" {
  begin
  run mortise exec -n "$name other" "$name" -- true
  fails_with 1
  run mortise exec -n "$name other" -- true
  fails_with 0
  run mortise exec "$name a" "$name b" -- mortise exec -n "$name b" -- true
  fails_with 1
}

@test "of several names none is lost while the others are awaited" {
  local options options_of_other
  for options in "" -s; do
    options_of_other=${options/-s/-x}
    mortise exec $options_of_other "$name $options b" -- sh -c 'echo >"$folder/held"; sleep 12' 3>&- &
    started+=($!)
    until_it is_there "$folder/held"
    run mortise exec $options --lease 6s --grace 1s --progress 1s --at-most 8s \
      "$name $options a" "$name $options b" -- sh -c 'exit 5'
    fails_with 5
    rm "$folder/held"
  done
}

@test "a name in brackets, or one that looks like a list, is that name" {
  for one in "[$name]" "[$name,b]" "{}" "[]" "[" "a,b"; do
    run mortise exec "$one" -- sh -c 'echo "$MORTISE_NAME"; mortise show "$1" | grep -c holds' sh "$one"
    fails_with 0
    [ "${lines[0]}" = "$one" ]
    [ "${lines[1]}" = 1 ]
  done
  run mortise exec "[$name,a]" "$name b" -- sh -c 'printf "%s" "$MORTISE_NAMES"'
  [ "$output" = "$(printf '%s\n' "[$name,a]" "$name b")" ]
}

@test "the command knows the name and the fencing token, which rises" {
  first=$(mortise exec "$name" -- sh -c '[ "$MORTISE_NAME" = "$name" ] && echo "$MORTISE_TOKEN"')
  second=$(mortise exec "$name" -- sh -c 'echo "$MORTISE_TOKEN"')
  [ "$first" -gt 0 ]
  [ "$second" -gt "$first" ]
}

@test "of several names it knows all and their tokens" {
  run mortise exec "$name a" "$name b" -- sh -c 'printf "%s" "$MORTISE_NAMES"; printf "%s" "$MORTISE_TOKENS"'
  fails_with 0
  [ "${#lines[@]}" = 4 ]
  [ "${lines[0]}" = "$name a" ]
  [ "${lines[1]}" = "$name b" ]
  [ "${lines[2]}" != "${lines[3]}" ]
}

@test "with one name it knows none of an outer exec" {
  run mortise exec "$name a" "$name b" -- mortise exec "$name" -- \
    sh -c 'echo "$MORTISE_NAME ${MORTISE_NAMES-none} ${MORTISE_TOKENS-none}"'
  fails_with 0
  [ "$output" = "$name none none" ]
}

@test "--token-file has the token before the command starts" {
  mortise exec --token-file "$folder/token" "$name" -- sh -c '[ "$(cat "$folder/token")" = "$MORTISE_TOKEN" ]'
}

@test "--token-file is for this user only, and keeps the mode of an earlier file" {
  mortise exec --token-file "$folder/token" "$name" -- true
  [ "$(stat -c %a "$folder/token")" = 600 ]
  chmod 640 "$folder/token"
  mortise exec --token-file "$folder/token" "$name" -- true
  [ "$(stat -c %a "$folder/token")" = 640 ]
}

@test "--token-file is replaced at once, and leaves nothing beside it" {
  mkdir "$folder/tokens"
  echo before >"$folder/tokens/token"
  exec 4<"$folder/tokens/token"
  mortise exec --token-file "$folder/tokens/token" "$name" -- true 4<&-
  [ "$(cat <&4)" = before ]
  [ "$(cat "$folder/tokens/token")" -gt 0 ]
  [ "$(ls -A "$folder/tokens")" = token ]
}

@test "--token-file follows no link" {
  echo theirs >"$folder/theirs"
  for target in theirs none; do
    ln -sfn "$folder/$target" "$folder/link"
    run mortise exec --token-file "$folder/link" "$name" -- touch "$folder/ran"
    fails_with 73
    says "symbolic link"
  done
  [ "$(cat "$folder/theirs")" = theirs ]
  [ ! -e "$folder/none" ]
  [ ! -e "$folder/ran" ]
  is_free
}

@test "the command has MORTISE_URL unless it contains a password" {
  redis-cli -s "${MORTISE_TEST_URL#unix://}" ACL SETUSER guest on '>secret' '~*' '&*' +@all
  redis-cli -s "${MORTISE_TEST_URL#unix://}" ACL SETUSER open on nopass '~*' '&*' +@all
  show='echo "${MORTISE_URL-none}"'
  path=${MORTISE_TEST_URL#unix://}
  for url in "unix://$path" "unix://open@$path" "unix://$path?label=a:b@c"; do
    MORTISE_URL=$url run mortise exec "$name" -c "$show"
    [ "$output" = "$url" ]
  done
  MORTISE_URL=unix://guest:secret@$path
  run mortise exec "$name" -c "$show"
  [ "$output" = none ]
  run mortise exec --pass-url "$name" -c "$show"
  [ "$output" = "$MORTISE_URL" ]
  for url in "redis://nowhere.invalid,redis://:x@nowhere.invalid" \
    "redis+sentinel://nowhere.invalid/main?sentinel_password=x" \
    "redis+sentinel://nowhere.invalid/main?sentinel%5Fpassword=x"; do
    MORTISE_URL=$url run mortise exec --url "unix://$path" "$name" -c "$show"
    [ "$output" = none ]
  done
}

@test "-c is run by the shell, and nothing else is" {
  run mortise exec "$name" -c 'echo $((1 + 1))'
  fails_with 0
  [ "$output" = 2 ]
  run mortise exec "$name" -- echo '$HOME;true'
  [ "$output" = '$HOME;true' ]
}

@test "what looks like our options after -- is the command's" {
  run mortise exec "$name" -- echo -n -w --help -- x
  fails_with 0
  [ "$output" = "-w --help -- x" ]
}

@test "a script without a first line is the shell's, as in a shell" {
  echo 'echo script "$1"' >"$folder/script"
  chmod +x "$folder/script"
  run mortise exec "$name" -- "$folder/script" x
  fails_with 0
  [ "$output" = "script x" ]
}

@test "a script without a first line is the file in PATH, not that of the current folder" {
  mkdir "$folder/none" "$folder/bin"
  echo 'echo right "$@"' >"$folder/bin/job"
  chmod +x "$folder/bin/job"
  PATH=$folder/none:$folder/bin:$PATH
  run mortise exec "$name" -- job x
  fails_with 0
  [ "$output" = "right x" ]
  echo 'echo wrong' >"$folder/job"
  run mortise exec "$name" -- job x
  [ "$output" = "right x" ]
  # An empty entry is the current folder.
  chmod +x "$folder/job"
  PATH=$folder/none::$PATH run mortise exec "$name" -- job x
  [ "$output" = wrong ]
}

@test "descriptors that were open are the command's, and no others" {
  run mortise exec "$name" -- sh -c 'ls /proc/self/fd | wc -l; echo seven >&7' 7>"$folder/seven"
  [ "$(cat "$folder/seven")" = seven ]
  expected=$(sh -c 'ls /proc/self/fd | wc -l' 7>/dev/null)
  [ "$output" = "$expected" ]
}

@test "--at-least keeps it when the command is done, without us" {
  mortise exec --at-least 3s --lease 1s "$name" -- true
  run mortise exec -n "$name" -- true
  fails_with 1
  until_it is_free
}

# Milliseconds, by a clock.
now_ms() { echo $((${EPOCHREALTIME/./} / 1000)); }

holder_pid() { mortise list --json | jq -e '.entries[] | select(.holds > 0) | .pid'; }

@test "--at-least keeps it no longer, whatever the lease, and exec returns at once" {
  local start returned
  start=$(now_ms)
  # Nothing that stays keeps a pipe open.
  [ "$(mortise exec --at-least 3s --lease 60s "$name" -- sh -c 'echo done; echo seven >&7' 7>&1)" = \
    $'done\nseven' ]
  returned=$(($(now_ms) - start))
  run mortise exec -n "$name" -- true
  fails_with 1
  [ "$returned" -lt 2900 ]
  mortise exec -w 30 "$name" -- true
  [ $(($(now_ms) - start)) -ge 3000 ]
}

@test "--at-least keeps several names, of each kind, no longer" {
  for options in --shared --exclusive --permits=1; do
    mortise exec --at-least 2s --lease 60s $options "$name $options a" "$name $options b" -- true
    run mortise exec -n "${options/shared/exclusive}" "$name $options b" -- true
    fails_with 1
    mortise exec -w 30 "${options/shared/exclusive}" "$name $options b" -- true
  done
}

@test "--at-least keeps it also if the process that waits for that is ended" {
  local process signal
  for signal in TERM KILL; do
    mortise exec --at-least 2s --lease 8s "$name $signal" -- true
    process=$(holder_pid)
    kill "-$signal" "$process"
    until_it is_gone "$process"
    sleep 2
    run mortise exec -n "$name $signal" -- true
    fails_with 1
    mortise exec -w 60 "$name $signal" -- true
  done
}

@test "--at-most ends the command and says so by 124" {
  run mortise exec --at-most 500ms --grace 100ms "$name" -- sleep 100
  fails_with 124
  says "--at-most"
}

@test "--at-most is no loss, also after the first lease and in shared mode" {
  run mortise exec --lease 6s --at-most 9s --on-lost 'touch "$folder/lost"' "$name" -- sleep 100
  fails_with 124
  run mortise exec -s --at-most 3s --grace 500ms --on-lost 'touch "$folder/lost"' "$name" -- sleep 100
  fails_with 124
  [ ! -e "$folder/lost" ]
  is_free
}

@test "--at-most shortens no lease, so a long --grace fits" {
  run mortise exec -s --at-most 6s --grace 3s "$name" -- sh -c 'exit 5'
  fails_with 5
}

@test "--at-most gives a command most of its time" {
  run mortise exec --at-most 3s "$name" -- sh -c 'sleep 0.5; exit 5'
  fails_with 5
}

@test "--at-most lets a command that is faster alone" {
  run mortise exec --at-most 60 "$name" -- sh -c 'exit 5'
  fails_with 5
}

@test "--once-per runs it once in the period, on whichever host" {
  for _ in 1 2 3; do
    mortise exec --once-per 1d -E 0 "$name" -- sh -c 'echo ran >>"$folder/ran"'
  done
  [ "$(wc -l <"$folder/ran")" = 1 ]
  run mortise exec --once-per 1d --verbose -E 0 "$name" -- true
  fails_with 0
  says "a run of this period of --once-per counts already"
  # The lock itself is free, and another period is another matter.
  mortise exec -n "$name" -- true
  mortise exec --once-per 2d -E 9 "$name" -- true
}

@test "--only-success repeats a run that failed, and only that" {
  for code in 3 0 0; do
    run mortise exec --once-per 1d --only-success -E 9 "$name" -- \
      sh -c 'echo "$0" >>"$folder/ran"; exit "$0"' "$code"
    codes+=" $status"
  done
  [ "$codes" = " 3 0 9" ]
  [ "$(wc -l <"$folder/ran")" = 2 ]
}

@test "--only-success repeats a run that a signal ended, or --at-most" {
  run mortise exec --once-per 1d --only-success "$name" -- sh -c 'kill -9 $$'
  fails_with 137
  run mortise exec --once-per 1d --only-success --at-most 1s "$name" -- sleep 60
  fails_with 124
  run mortise exec --once-per 1d --only-success "$name" -- true
  fails_with 0
  run mortise exec --once-per 1d --only-success -E 9 "$name" -- true
  fails_with 9
}

@test "--only-success lets the next waiter run after a failure" {
  mortise exec --once-per 1d --only-success "$name" -- sh -c \
    'echo >"$folder/begun"; until [ -e "$folder/end" ]; do sleep 0.05; done; exit 3' 3>&- &
  first=$!
  started+=("$first")
  until_it is_there "$folder/begun"
  mortise exec --once-per 1d --only-success "$name" -- sh -c 'echo >"$folder/second"' 3>&- &
  waiter=$!
  started+=("$waiter")
  until_it waits
  touch "$folder/end"
  ends_with "$first" 3
  ends_with "$waiter" 0
  [ -s "$folder/second" ]
}

@test "--once-per gives the lock back also if the turn is lost" {
  for option in --verbose --only-success; do
    run mortise exec --once-per 1d $option "$name" -- sh -c '
      redis="redis-cli -s ${MORTISE_TEST_URL#unix://}"
      $redis --scan --pattern "*$name@*" | while read -r key; do $redis del "$key"; done; exit 3'
    fails_with 3
    says "1"
    is_free
  done
}

@test "--once-per does not count a command that could not be started" {
  run -127 mortise exec --once-per 1d "$name" -- "$folder/none"
  fails_with 127
  run mortise exec --once-per 1d "$name" -- true
  fails_with 0
}

@test "--once-per does not count a command that a signal canceled before its start" {
  mkfifo "$folder/token"
  mortise exec --lease 60s --once-per 1d --token-file "$folder/token" "$name" -- true 3>&- &
  started+=($!)
  has_turn() { mortise list -o name | grep -qF "$name@"; }
  until_it has_turn
  kill -TERM $!
  ends_with $! 143
  run mortise exec -n --once-per 1d -E 9 "$name" -- true
  fails_with 0
}

@test "--label names the holder to others" {
  begin --label "nightly backup"
  run redis-cli -s "${MORTISE_TEST_URL#unix://}" eval "
    local text = ''
    for _, key in ipairs(redis.call('KEYS', '*')) do text = text .. (redis.call('DUMP', key) or '') end
    return string.find(text, 'nightly backup', 1, true) and 1 or 0" 0
  [ "$output" = 1 ]
}

@test "local: is a flock of one machine" {
  export MORTISE_URL=local: MORTISE_LOCAL_DIR=$folder/local MORTISE_LOCAL_IDLE_S=1
  run mortise exec "$name" -- mortise exec -n "$name" -- true
  fails_with 1
  run mortise exec "$name" -- mortise exec -n "$name other" -- true
  fails_with 0
}

@test "a thousand short ones never overlap" {
  echo 0 >"$folder/count"
  for _ in 1 2 3 4; do
    (for _ in $(seq 250); do
      mortise exec "$name" -- sh -c 'read count <count; echo $((count + 1)) >count'
    done) 3>&- &
    started+=($!)
  done
  for process in "${started[@]}"; do ends_with "$process" 0; done
  [ "$(cat "$folder/count")" = 1000 ]
}

@test "mortise alone and mortise --help say what there is" {
  run mortise
  fails_with 64
  says "--help"
  run mortise --help
  fails_with 0
  says "mortise exec"
  for words in version --version; do
    run mortise "$words"
    fails_with 0
    says "mortise 1."
    run mortise "$words" extra
    fails_with 64
  done
  run mortise version --json
  [[ $output =~ ^\{\"version\":\"[0-9]+\.[0-9]+\.[0-9]+\"\}$ ]]
  run mortise version --help
  says "Usage: mortise version"
}
