package mortise

import (
	"context"
	"runtime"
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

// Census is a listing of the locks that all live clients hold and wait for, as these clients report
// them. docs/census.md describes what it includes.
type Census struct {
	// Answered is the number of clients that replied in full or in part, including this client.
	// Silent counts the live clients that did not reply in time. Truncated counts the clients whose
	// reply was incomplete.
	Answered, Silent, Truncated int64
	Entries                     []CensusEntry
	// JSON is the whole listing as one text.
	JSON string
}

// CensusEntry is the relation of one client to one lock.
type CensusEntry struct {
	// Client identifies the client, Host and Pid its process. Label is the label of its handle.
	Client, Host, Label string
	Pid                 int64
	Name                string
	// Kind is "mutex", "rw" or "semaphore".
	Kind string
	// Mode is "exclusive" or "shared", for the hold, or without a hold for the first waiter. It is
	// empty without both.
	Mode string
	// Holds is 1 if the client holds the lock, otherwise 0. Token, Held, TimeLeft and Permits
	// describe that hold.
	Holds, Token   int64
	Held, TimeLeft time.Duration
	Permits        int64
	// Waiters is the number of waiters in this client. Waited is how long the first of them has
	// waited.
	Waiters int64
	Waited  time.Duration
	// Grants counts the granted acquires, Contended the acquires that found the lock taken. Both
	// count since the client has handles of the lock. WaitedTotal is the total wait of the granted
	// acquires.
	Grants, Contended int64
	WaitedTotal       time.Duration
	// Waits is a histogram of these waits: upper bound in seconds and count, such as "0.0005:12
	// 0.01:3".
	Waits string
	// Retained is 1 while the client keeps the lock for its next acquire; see WithRetain.
	Retained int64
	// Source is "client", or "key" for an entry that was read from a key of a server.
	Source string
}

// Census asks all live clients which locks they hold and wait for. It returns when all have
// replied, or after patience, which is between 1 ms and 1 minute. The result then lacks the clients
// that have not replied.
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

// Scan searches the keys of the servers for locks. It finds holds of dead or stopped clients, which
// no Census reports. It reads at most mostKeys keys of each server, and ends after patience at the
// latest, which is between 1 ms and 1 minute. An empty pattern selects locks in Mortise's own
// format. Any other pattern selects keys of other programs in the syntax of SCAN, such as "lock:*".
// Answered and Truncated of the result count servers.
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
