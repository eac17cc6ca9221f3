# `mortise why`: the holds of a lock, and the waits behind them.
load helpers

has_history() { mortise why "$name" | grep -q "$1"; }

# has_first_line <its begin> <option>…: the whole answer is in $output. Another one can lack a client
# that is slow.
has_first_line() {
  run mortise why "${@:2}" "$name"
  [[ ${lines[0]} == "$name: $1 in the last 10m; times within "* ]]
}

@test "why shows the present holder and a waiter behind it" {
  begin --label "nightly backup"
  mortise exec --label "the second" "$name" -- true 2>/dev/null 3>&- &
  started+=($!)
  until_it has_first_line "1 hold, 1 wait"
  fails_with 0
  local time='[0-9:]{8}\.[0-9]{6} ' cells token
  cells=$(tr -s ' ' <<<"$output")
  token=$(mortise list --json | jq '.entries[] | select(.holds > 0) | .token')
  grep -qE "^${time}holds .* $token - - $(hostname) $holder_process nightly backup$" <<<"$cells"
  grep -qE "^${time}waits .* - $token - $(hostname) [0-9]+ the second$" <<<"$cells"
  says "Clients that died are missing."
}

@test "why omits a client that died" {
  begin
  until_it has_history ' holds  '
  kill -KILL "$holder_process"
  until_it sh -c '! mortise why "$name" | grep -q " holds  "'
  run mortise why "$name"
  fails_with 0
  says "$name: 0 holds, 0 waits in the last 10m"
  says "Clients that died are missing."
}

@test "why --json has the holds, the waits and their events" {
  begin
  mortise exec -w 1.5 -E 3 "$name" -- true || [ $? = 3 ]
  mortise why --json --last 1h "$name" | python3 -c '
import json, os, sys
seen = json.load(sys.stdin)
assert seen["name"] == os.environ["name"] and seen["window_ms"] == 3600000, seen
assert seen["note"] == "Clients that died are missing.", seen
(hold,) = [one for one in seen["spans"] if one["what"] == "holds"]
assert hold["is_open"] and hold["token"] > 0 and hold["lasted_us"] > 0, hold
assert hold["end_us"] - hold["begin_us"] == hold["lasted_us"], hold
assert any(one["event"] == "granted" for one in seen["entries"]), seen
assert 0 < seen["error_us"] < 60000000, seen'
}

@test "why --trace is Chrome's trace format" {
  begin --label "the holder"
  mortise why --trace "$name" | python3 -c '
import json, os, sys
trace = json.load(sys.stdin)
(process,) = [one for one in trace["traceEvents"] if one["ph"] == "M"]
assert process["name"] == "process_name" and "the holder" in process["args"]["name"], trace
(hold,) = [one for one in trace["traceEvents"] if one["ph"] == "X"]
assert hold["name"] == "holds" and hold["cat"] == os.environ["name"], trace
assert hold["pid"] == process["pid"] and hold["dur"] > 0 and hold["ts"] > 1e15, trace'
}

@test "why prints the latest rows, and how many it omits" {
  begin
  for label in first second third; do
    mortise exec --label "$label" "$name" -- true 2>/dev/null 3>&- &
    started+=($!)
  done
  until_it has_first_line "1 hold, 3 waits" --most 2
  fails_with 0
  [ "$(grep -cE ' (holds|waits)  ' <<<"$output")" = 2 ]
  says "2 earlier rows omitted; raise --most."
}

@test "why names what is wrong with its arguments" {
  run mortise why
  fails_with 64
  says "NAME is missing; see mortise why --help"
  run mortise why --json --trace "$name"
  fails_with 64
  says "--json and --trace exclude each other; give one of them"
  run mortise why --last 2d "$name"
  fails_with 64
  says "--last 2d is out of range; give 1ms to 1d"
  run mortise why --most 0 "$name"
  fails_with 64
  says "--most 0 is out of range; give 1 to 1000000"
}
