package mortise

import (
	"context"
	"runtime"
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

// Census is what all clients that live hold and wait for, as they have told. What it tells and what
// it does not is on the page about it.
type Census struct {
	// Answered is how many clients have; Silent live and have not in time, and Truncated have, but
	// not to the end.
	Answered, Silent, Truncated int64
	Entries                     []CensusEntry
	// JSON is all of it as one text.
	JSON string
}

// CensusEntry is what one client has to do with one lock.
type CensusEntry struct {
	// Client is which, Host and Pid where it runs, Label that of its handle.
	Client, Host, Label string
	Pid                 int64
	Name                string
	// Kind is "mutex", "rw" or "semaphore".
	Kind string
	// Mode is "exclusive" or "shared", as it holds or first waits; empty without either.
	Mode string
	// Holds is whether it holds, 1 or 0; the others are about that hold.
	Holds, Token   int64
	Held, TimeLeft time.Duration
	Permits        int64
	// Waiters is how many in this client wait, and Waited for how long the first of them has.
	Waiters int64
	Waited  time.Duration
	// Grants and Contended are how many acquires were granted, and how many have found the lock taken,
	// since the client has handles of it; WaitedTotal is how long those that were granted have waited.
	Grants, Contended int64
	WaitedTotal       time.Duration
	// Waits is how many of these waited up to how many seconds, such as "0.0005:12 0.01:3".
	Waits string
	// Retained is 1 while the client keeps the lock for its next acquire, by WithRetain.
	Retained int64
	// Source is "client", or "key" where a key of a server tells of it.
	Source string
}

// Census asks all clients that live what they hold and wait for. It ends when all have answered, or
// after patience, which is from a millisecond to a minute, and is then without those who have not.
func (c *Client) Census(ctx context.Context, patience time.Duration) (*Census, error) {
	e := c.core()
	if e == nil {
		return nil, noClient()
	}
	defer runtime.KeepAlive(c)
	return e.census(ctx, func(client, details uintptr) uintptr {
		return swig.Client_census(client, patience.Milliseconds(), details)
	})
}

// Scan looks through the keys of the servers for locks, of each server so many at most: for those
// in Mortise's own format with the pattern "", else for keys of other programs, as SCAN has it,
// such as "lock:*". It finds holds of clients that are dead or stopped, which no Census tells. It
// ends after patience, which is from a millisecond to a minute, at the latest.
func (c *Client) Scan(
	ctx context.Context, pattern string, mostKeys int64, patience time.Duration,
) (*Census, error) {
	e := c.core()
	if e == nil {
		return nil, noClient()
	}
	defer runtime.KeepAlive(c)
	return e.census(ctx, func(client, details uintptr) uintptr {
		return swig.Client_scan(client, pattern, mostKeys, patience.Milliseconds(), details)
	})
}

func (e *engine) census(
	ctx context.Context, take func(client, details uintptr) uintptr,
) (*Census, error) {
	var taken *Census
	err := e.blocking(ctx, func() error {
		client, err := e.client.enter()
		if err != nil {
			return clientClosed()
		}
		defer e.client.leave()
		address, err := made(func(details uintptr) uintptr { return take(client, details) })
		if err != nil {
			return err
		}
		defer swig.Census_free(address)
		taken = readCensus(address)
		return nil
	})
	if err != nil {
		return nil, under(ctx, err)
	}
	return taken, nil
}

func readCensus(address uintptr) *Census {
	read := &Census{
		Answered:  swig.Census_answered(address),
		Silent:    swig.Census_silent(address),
		Truncated: swig.Census_truncated(address),
		Entries:   make([]CensusEntry, swig.Census_count(address)),
		JSON:      swig.Text(swig.Census_json(address)),
	}
	for i := range read.Entries {
		read.Entries[i] = readCensusEntry(address, int64(i))
	}
	return read
}

func readCensusEntry(address uintptr, index int64) CensusEntry {
	text := func(key string) string { return swig.Text(swig.Census_text(address, index, key)) }
	number := func(key string) int64 { return swig.Census_number(address, index, key) }
	span := func(key string) time.Duration { return time.Duration(number(key)) * time.Millisecond }
	return CensusEntry{
		Client: text("client"), Host: text("host"), Label: text("label"), Pid: number("pid"),
		Name: text("name"), Kind: text("kind"), Mode: text("mode"),
		Holds: number("holds"), Token: number("token"), Held: span("held_ms"),
		TimeLeft: span("time_left_ms"), Permits: number("permits"),
		Waiters: number("waiters"), Waited: span("waited_ms"),
		Grants: number("grants"), Contended: number("contended"),
		WaitedTotal: span("waited_total_ms"), Waits: text("waits"),
		Retained: number("retained"), Source: text("source"),
	}
}
