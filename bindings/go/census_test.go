package mortise

import (
	"encoding/json"
	"testing"
	"time"
)

// TestCensusIsTheSameInEachForm: each entry is in JSON as it is in Go.
func TestCensusIsTheSameInEachForm(t *testing.T) {
	client := startServer(t).open(t)
	hold, err := client.lock(t, "a", WithLabel("of \"a\"")).Acquire(within(t))
	must(t, err)
	census, err := client.Census(within(t), time.Minute)
	must(t, err)
	if census.Answered != 1 || census.Silent != 0 || census.Truncated != 0 {
		t.Fatalf("%+v", census)
	}
	var told struct {
		Entries []struct {
			Client, Name, Label, Kind, Mode string
			Token, Pid                      int64
			HeldMs                          int64 `json:"held_ms"`
			TimeLeftMs                      int64 `json:"time_left_ms"`
		}
	}
	must(t, json.Unmarshal([]byte(census.JSON), &told))
	if len(census.Entries) != 1 || len(told.Entries) != 1 {
		t.Fatalf("%s", census.JSON)
	}
	one, same := census.Entries[0], told.Entries[0]
	if one.Client != same.Client || one.Name != same.Name || one.Label != same.Label ||
		one.Kind != same.Kind || one.Mode != same.Mode || one.Token != same.Token ||
		one.Pid != same.Pid || one.Held.Milliseconds() != same.HeldMs ||
		one.TimeLeft.Milliseconds() != same.TimeLeftMs {
		t.Errorf("%+v is not %+v", one, same)
	}
	if one.Name != "a" || one.Label != "of \"a\"" || one.Mode != "exclusive" || one.Holds != 1 ||
		one.Token != hold.Token() || one.Grants != 1 || one.Permits != 1 || one.Waiters != 0 {
		t.Errorf("%+v", one)
	}
	must(t, hold.Unlock(within(t)))
	_, err = client.Census(within(t), time.Hour)
	expect(t, err, ErrInvalidArgument)
}
