package mortise

import (
	"context"
	"encoding/json"
	"net"
	"testing"
	"time"
)

// TestListingIsTheSameInEachForm: each entry is in JSON as it is in Go.
func TestListingIsTheSameInEachForm(t *testing.T) {
	client := startServer(t).open(t)
	hold, err := client.lock(t, "a", WithLabel("of \"a\"")).Acquire(within(t))
	must(t, err)
	listing, err := client.ListLocks(within(t))
	must(t, err)
	if listing.Answered != 1 || listing.Silent != 0 || listing.Truncated != 0 {
		t.Fatalf("%+v", listing)
	}
	var decoded struct {
		Entries []struct {
			Client, Name, Label, Kind, Mode string
			Token, Pid                      int64
			HeldMs                          int64 `json:"held_ms"`
			TimeLeftMs                      int64 `json:"time_left_ms"`
		}
	}
	must(t, json.Unmarshal([]byte(listing.JSON), &decoded))
	if len(listing.Entries) != 1 || len(decoded.Entries) != 1 {
		t.Fatalf("%s", listing.JSON)
	}
	one, same := listing.Entries[0], decoded.Entries[0]
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
}

// A subscriber that never answers stands for a stopped client.
func TestListingEndsBeforeItsContext(t *testing.T) {
	server := startServer(t)
	client := server.open(t)
	silent, err := net.Dial("unix", server.socket)
	must(t, err)
	defer silent.Close()
	_, err = silent.Write([]byte("SUBSCRIBE mortise:inbox:silent\r\n"))
	must(t, err)
	_, err = silent.Read(make([]byte, 1))
	must(t, err)
	short, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	listing, err := client.ListLocks(short)
	must(t, err)
	if listing.Silent != 1 {
		t.Errorf("%+v", listing)
	}
}
