# `mortise bench` measures these servers, and leaves nothing there.
load helpers

@test "bench compares the times of locks with a round trip" {
  run mortise bench --for 300ms
  fails_with 0
  [[ ${lines[0]} == "round trip "* && ${lines[0]} == *" 1.00"* ]]
  [[ ${lines[1]} == "lock and unlock "* ]]
  [[ ${lines[2]} == "handover "* ]]
  says "< "
}

@test "bench --json has quantiles and a histogram that counts all" {
  mortise bench --for 300ms --json | python3 -c '
import json, sys
figures = json.load(sys.stdin)
assert sorted(figures) == ["handover", "lock_and_unlock", "round_trip"], figures
for one in figures.values():
    assert 0 < one["p50_us"] <= one["p99_us"] <= one["max_us"], one
    assert sum(bucket["count"] for bucket in one["histogram"]) == one["count"] > 0, one
    assert one["histogram"][-1]["below_us"] > one["max_us"], one
assert figures["handover"]["count"] == 2 * figures["lock_and_unlock"]["count"], figures'
}

@test "bench leaves nothing, and touches no other lock" {
  local server=(redis-cli -s "${MORTISE_TEST_URL#unix://}")
  begin
  "${server[@]}" --scan --pattern '{mortise:*' | sort >before
  mortise bench --for 100ms
  is_as_before() { diff before <("${server[@]}" --scan --pattern '{mortise:*' | sort); }
  until_it is_as_before
  kill -0 "$command"
}

@test "bench refuses what is no time, and a server that is not there" {
  run mortise bench --for 0
  fails_with 64
  says "--for 0 is out of range; give 1ms to 1h"
  run mortise bench --for soon
  fails_with 64
  run mortise bench --url redis://127.0.0.1:1
  fails_with 69
  run mortise bench more
  fails_with 64
}
