package mortise

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

// Listing is a listing of the locks that all live clients hold and wait for, as these clients
// report them. docs/listing.md describes what it includes.
type Listing struct {
	// Answered is the number of clients that replied in full or in part, including this client.
	// Silent counts the live clients that did not reply in time. Truncated counts the clients whose
	// reply was incomplete.
	Answered, Silent, Truncated int64
	Entries                     []ListingEntry
	// JSON is the whole listing as one text.
	JSON string
}

// ListingEntry is the relation of one client to one lock.
type ListingEntry struct {
	// Client identifies the client, Host and Pid its process. Label is the label of its handle.
	Client, Host, Label string
	Pid                 int64
	// Value is that of the hold; see Hold.SetValue.
	Value string
	Name  string
	// Kind is "mutex", "rw" or "semaphore".
	Kind string
	// Mode is "exclusive" or "shared", for the hold, or without a hold for the first waiter. It is
	// empty without both.
	Mode string
	// Holds is the number of handles that hold the lock, 0 without a hold. Token, Held and TimeLeft
	// describe the oldest hold. Permits counts the permits of all these handles.
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
	// Retained is 1 or more while the client keeps the lock for its next acquire; see WithRetain.
	Retained int64
	// Threads has the threads and tasks that hold or wait; see WithTask and docs/deadlocks.md.
	Threads string
	// Source is "client", or "key" for an entry that was read from a key of a server.
	Source string
}

// ListLocks asks all live clients which locks they hold and wait for. It returns when all have
// replied, or just before the deadline of the context, after one minute at most. Without a deadline
// it waits 3 s. The result then lacks the clients that have not replied.
func (c *Client) ListLocks(ctx context.Context) (*Listing, error) {
	e := c.core()
	if e == nil {
		return nil, noClient()
	}
	defer runtime.KeepAlive(c)
	return listingOf(e, ctx, readListing, func(client, details uintptr) uintptr {
		return swig.Client_list_locks(client, listingMs(ctx), details)
	})
}

// ScanLocks searches the keys of the servers for locks. It finds holds of dead or stopped clients,
// which ListLocks cannot report. It reads at most mostKeys keys of each server, and waits as
// ListLocks does. An empty pattern selects locks in Mortise's own format. Any other pattern selects
// keys of other programs in the syntax of SCAN, such as "lock:*". Answered and Truncated of the
// result count servers.
func (c *Client) ScanLocks(
	ctx context.Context, pattern string, mostKeys int64,
) (*Listing, error) {
	e := c.core()
	if e == nil {
		return nil, noClient()
	}
	defer runtime.KeepAlive(c)
	return listingOf(e, ctx, readListing, func(client, details uintptr) uintptr {
		return swig.Client_scan_locks(client, pattern, mostKeys, listingMs(ctx), details)
	})
}

// longestEarly is how long before its context a listing may end.
const longestEarly = 100 * time.Millisecond

// listingMs ends a little before the context does, so that a partial result is in time.
func listingMs(ctx context.Context) int64 {
	const usual, longest = 3 * time.Second, time.Minute
	deadline, has := ctx.Deadline()
	if !has {
		return usual.Milliseconds()
	}
	left := time.Until(deadline)
	if early := left / 10; early < longestEarly {
		left -= early
	} else {
		left -= longestEarly
	}
	switch {
	case left > longest:
		left = longest
	case left <= 0:
		return 1
	}
	return milliseconds(left)
}

// listingOf takes a native listing, reads it and frees it.
func listingOf[Result any](
	e *engine, ctx context.Context, read func(address uintptr) *Result,
	take func(client, details uintptr) uintptr,
) (*Result, error) {
	var taken *Result
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
		defer swig.Listing_free(address)
		taken = read(address)
		return nil
	})
	if err == nil {
		return taken, nil
	}
	if errors.Is(err, ErrUnknown) || errors.Is(err, ErrUnreachable) || errors.Is(err, ErrBusy) {
		// Time was up a little before the context is.
		if deadline, has := ctx.Deadline(); has && time.Until(deadline) <= longestEarly {
			<-ctx.Done()
		}
	}
	return nil, under(ctx, err)
}

func readListing(address uintptr) *Listing {
	read := &Listing{
		Answered:  swig.Listing_answered(address),
		Silent:    swig.Listing_silent(address),
		Truncated: swig.Listing_truncated(address),
		Entries:   make([]ListingEntry, swig.Listing_count(address)),
		JSON:      swig.Text(swig.Listing_json(address)),
	}
	for i := range read.Entries {
		read.Entries[i] = readListingEntry(address, int64(i))
	}
	return read
}

func readListingEntry(address uintptr, index int64) ListingEntry {
	text := func(key string) string { return swig.Text(swig.Listing_text(address, index, key)) }
	number := func(key string) int64 { return swig.Listing_number(address, index, key) }
	span := func(key string) time.Duration { return time.Duration(number(key)) * time.Millisecond }
	return ListingEntry{
		Client: text("client"), Host: text("host"), Label: text("label"), Pid: number("pid"),
		Value: text("value"),
		Name:  text("name"), Kind: text("kind"), Mode: text("mode"),
		Holds: number("holds"), Token: number("token"), Held: span("held_ms"),
		TimeLeft: span("time_left_ms"), Permits: number("permits"),
		Waiters: number("waiters"), Waited: span("waited_ms"),
		Grants: number("grants"), Contended: number("contended"),
		WaitedTotal: span("waited_total_ms"), Waits: text("waits"),
		Retained: number("retained"), Threads: text("threads"), Source: text("source"),
	}
}
