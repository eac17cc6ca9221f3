# `mortise doctor --deadlocks`: threads that wait for each other, and threads that only seem to.
load helpers
load deployments

# The locks of a killed process last for a lease. So each scenario has a namespace of its own.
eval "common_$(declare -f setup)"
setup() {
  common_setup
  MORTISE_URL+="?namespace=scenario$BATS_TEST_NUMBER"
}

teardown() {
  local process
  for process in "${started[@]}"; do kill -KILL "$process" 2>/dev/null || true; done
  end_servers
}

# threads <list>…: starts a process with these threads, which have acquired their first locks.
threads() {
  local said="$folder/said${#started[@]}"
  "$CIRCLE" "$@" >"$said" 3>&- &
  started+=($!)
  until_it has_lines "$said" $#
}
has_lines() { [ "$(wc -l <"$1")" = "$2" ]; }

# all_wait <number>: the threads acquire their other locks, and so many of them wait. The file "seen"
# has what the doctor saw then.
all_wait() {
  touch go
  until_it have_waited "$1"
}
have_waited() {
  mortise doctor --deadlocks --json >seen || [ $? = 2 ]
  [ "$(jq .waiting_threads seen)" = "$1" ]
}

# found <number>: so many deadlocks.
found() { [ "$(jq '.deadlocks | length' seen)" = "$1" ]; }

# The text has the same. It comes from another listing, which may have taken longer.
until_printed() { until_it prints "$1"; }
prints() {
  mortise doctor --deadlocks >text || [ $? = 2 ]
  grep -qx "$1" text
}

# reports <code> <text>…: in one look, because a slow listing lacks waits.
reports() {
  local text
  run mortise doctor --deadlocks
  fails_with "$1" || return 1
  for text in "${@:2}"; do says "$text" || return 1; done
}

@test "doctor names a deadlock of two processes" {
  threads first,second
  threads second,first
  all_wait 2
  found 1
  until_printed "1 deadlock among 2 waiting threads"
  grep -qE '^deadlock of 2 threads for [0-9]+m?s$' text
  local process
  for process in "${started[@]}"; do
    tr -s ' ' <text | grep -qE "^(first [0-9ms]+ second|second [0-9ms]+ first) [0-9ms]+ \
$(hostname) $process [0-9]+$"
  done
  until_it reports 2
}

@test "doctor --deadlocks --json names the threads and their locks" {
  threads a,b b,c c,a
  threads d,a
  all_wait 4
  python3 -c '
import json, sys
seen = json.load(open("seen"))
(found,) = seen["deadlocks"]
threads = found["threads"]
assert sorted(one["holds"]["name"] for one in threads) == ["a", "b", "c"], threads
for one, after in zip(threads, threads[1:] + threads[:1]):
    assert one["waits_for"]["name"] == after["holds"]["name"], threads
    assert one["pid"] == int(sys.argv[1]) != one["thread"], threads
    assert one["holds"]["kind"] == "mutex" and one["holds"]["mode"] == "exclusive", threads
assert found["lasted_ms"] == min(one["waits_for"]["lasted_ms"] for one in threads), found
assert seen["threads_behind"] == 1, seen' "${started[0]}"
}

@test "a thread that waits for itself is a deadlock" {
  threads a,a
  all_wait 1
  found 1
  until_printed "1 deadlock among 1 waiting thread"
}

@test "readers and writers, permits without room, and multis are in deadlocks" {
  threads r=a,w=b r=b,w=a
  threads 2=c,d d,2=c
  threads m=e,f f,m=e
  all_wait 6
  found 3
}

@test "threads that wait for a thread that runs are in no deadlock" {
  threads a b,a c,b
  all_wait 2
  found 0
  until_printed "0 deadlocks among 2 waiting threads"
  run mortise doctor --deadlocks
  fails_with 0
}

@test "readers that share a lock are in no deadlock" {
  threads r=a,b b,r=a
  all_wait 1
  found 0
}

@test "names that differ after a zero byte are different locks" {
  threads a@x,b b,a@y
  threads a@y
  all_wait 2
  found 0
}

@test "a name with a zero byte is in a deadlock" {
  threads a@x,b b,a@x
  all_wait 2
  found 1
}

@test "permits that a running thread will release are in no deadlock" {
  threads 1=a,b b,2=a 1=a
  all_wait 2
  found 0
}

# The handles still have the number of permits from before.
@test "permits that were added are in no deadlock" {
  threads '!4=a'
  threads 1=a,b b,3=a 1=a
  all_wait 2
  found 0
}

@test "a retained lock is in no deadlock" {
  MORTISE_URL+="&retain=20s" threads -a,b
  threads b,a
  all_wait 1
  found 0
}

# A namespace has only Mortise's own format.
@test "locks of one name in two formats are in no deadlock" {
  MORTISE_URL=$MORTISE_TEST_URL
  threads "t=$name,b $name" "b $name,$name" "$name"
  all_wait 2
  found 0
}

# An event loop can release a lock while another of its calls waits.
@test "calls that block no thread are in no deadlock" {
  threads +a,+b +b,+a
  touch go
  until_it two_locks_have_waiters
  have_waited 0
  found 0
}
two_locks_have_waiters() {
  [ "$(mortise list --json | jq '[.entries[] | select(.waiters > 0)] | length')" = 2 ]
}

# The numbers are those of the program, and other processes may use the same ones.
@test "doctor names a deadlock of tasks" {
  threads 7+first,7+second
  threads 7+second,7+first
  all_wait 2
  found 1
  [ "$(jq -c '.deadlocks[0].threads | map([.thread, .is_task])' seen)" = '[[7,true],[7,true]]' ]
  until_printed "1 deadlock among 2 waiting threads"
  [ "$(grep -cE ' task 7$' text)" = 2 ]
}

@test "tasks that release what others wait for are in no deadlock" {
  threads 1+a 2+b,2+a 3+c,3+b
  all_wait 2
  found 0
}

# found_on <start of servers>
found_on() {
  ports=() buses=() control=()
  "$1"
  threads a,b
  threads b,a
  all_wait 2
  found 1
}

@test "doctor finds a deadlock in a cluster" { found_on start_cluster; }
@test "doctor finds a deadlock on shards" { found_on start_shards; }
@test "doctor finds a deadlock on a quorum" { found_on start_quorum; }

# ---- deadlock=fail: the processes release their locks at their end -----------------------------

fail_in_deadlocks() { MORTISE_URL+="${1:-&}deadlock=fail&release_at_exit=on"; }

# one_of_each <circles>: in each circle one wait fails, and another one is granted.
one_of_each() {
  touch go
  until_it have_said "$1" 'waited [0-9]* ms in a deadlock: '
  until_it have_said "$1" '^acquired$'
}
have_said() { [ "$(cat said* | grep -c "$2")" = "$1" ]; }

@test "deadlock=fail ends one wait of a circle, and its message names the circle" {
  fail_in_deadlocks
  threads a,b
  threads b,c
  threads c,a
  one_of_each 1
  local host
  host=$(hostname)
  grep -hE "^\"[abc]\": waited [0-9]+ ms in a deadlock: process [0-9]+ on \"$host\" holds it and \
waits for \"[abc]\", process [0-9]+ on \"$host\" holds that and waits for \"[abc]\", \
which this thread holds$" said*
}

@test "deadlock=fail ends one wait among readers and writers, permits, and multis" {
  fail_in_deadlocks
  threads r=a,w=b
  threads r=b,w=a
  threads 2=c,d
  threads d,2=c
  threads m=e,f
  threads f,m=e
  one_of_each 3
}

@test "deadlock=fail ends a wait by the format of another program" {
  MORTISE_URL=$MORTISE_TEST_URL
  fail_in_deadlocks "?"
  threads "t=$name,$name b"
  threads "$name b,t=$name"
  one_of_each 1
}

# ends_one_on <start of servers>
ends_one_on() {
  ports=() buses=() control=()
  "$1"
  case $MORTISE_URL in
    *\?*) fail_in_deadlocks ;;
    *) fail_in_deadlocks "?" ;;
  esac
  threads a,b
  threads b,a
  one_of_each 1
}

@test "deadlock=fail ends a wait in a cluster" { ends_one_on start_cluster; }
@test "deadlock=fail ends a wait on shards" { ends_one_on start_shards; }
@test "deadlock=fail ends a wait on a quorum" { ends_one_on start_quorum; }

# A user that may ask the clients, and not read the semaphore.
@test "doctor names the deadlocks that it can see if it cannot read a semaphore" {
  threads 2=c,d d,2=c
  threads e,f f,e
  all_wait 4
  found 2
  redis-cli -s "${MORTISE_TEST_URL#unix://}" ACL SETUSER some reset on '>some' '+@all' '&*' \
    '~*:mortise:*' '~*{mortise:[def]}*'
  MORTISE_URL=${MORTISE_URL/unix:\/\//unix://some:some@} until_it reports 2 \
    'waits for the permits of "c" are omitted: ' "1 deadlock among 4 waiting threads"
}

@test "doctor names what is wrong with its arguments" {
  run mortise doctor --deadlocks --all
  fails_with 64
  says "--all selects findings; omit it with --deadlocks"
  run mortise doctor --wait 2s
  fails_with 64
  says "--wait is for the answers of clients; give --deadlocks too"
  run mortise doctor --deadlocks --wait 2h
  fails_with 64
  says "--wait"
}
