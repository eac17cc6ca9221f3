package mortise

import (
	"context"
	"runtime"
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

// History has the latest events of one lock, as all live clients report them. docs/history.md
// describes it.
type History struct {
	// Answered is the number of clients that replied in full or in part, including this client.
	// Silent counts the live clients that did not reply in time. Truncated counts the clients whose
	// reply was incomplete.
	Answered, Silent, Truncated int64
	// Events has the order of the times.
	Events []HistoryEvent
	// JSON is the whole history as one text.
	JSON string
}

// HistoryEvent is what happened to a wait or a hold of one handle.
type HistoryEvent struct {
	// Client identifies the client, Host and Pid its process. Label is the label of the client.
	Client, Host, Label string
	Pid                 int64
	// Event says what happened, such as "granted". Mode is "exclusive" or "shared". Why is the reason
	// of an end without success.
	Event, Mode, Why string
	// Handle is the number of the handle in its client, Token the fencing token of the hold. Both are
	// 0 for none. Permits and Place belong to an acquire, and are 0 if unknown.
	Handle, Token, Permits, Place int64
	// Time is on the server's clock. It may be wrong by Error in both directions. Lasted is how long
	// the wait or the hold had lasted.
	Time          time.Time
	Error, Lasted time.Duration
}

// ListHistory asks all live clients for the latest events of this lock, within a window up to now.
// The window is one day at most. It waits as ListLocks does.
func (c *Client) ListHistory(
	ctx context.Context, name string, window time.Duration,
) (*History, error) {
	e := c.core()
	if e == nil {
		return nil, noClient()
	}
	defer runtime.KeepAlive(c)
	return listingOf(e, ctx, readHistory, func(client, details uintptr) uintptr {
		return swig.Client_list_history(client, name, milliseconds(window), listingMs(ctx), details)
	})
}

func readHistory(address uintptr) *History {
	read := &History{
		Answered:  swig.Listing_answered(address),
		Silent:    swig.Listing_silent(address),
		Truncated: swig.Listing_truncated(address),
		Events:    make([]HistoryEvent, swig.Listing_count(address)),
		JSON:      swig.Text(swig.Listing_json(address)),
	}
	for i := range read.Events {
		read.Events[i] = readHistoryEvent(address, int64(i))
	}
	return read
}

func readHistoryEvent(address uintptr, index int64) HistoryEvent {
	text := func(key string) string { return swig.Text(swig.Listing_text(address, index, key)) }
	number := func(key string) int64 { return swig.Listing_number(address, index, key) }
	span := func(key string) time.Duration { return time.Duration(number(key)) * time.Microsecond }
	return HistoryEvent{
		Client: text("client"), Host: text("host"), Label: text("label"), Pid: number("pid"),
		Event: text("event"), Mode: text("mode"), Why: text("why"),
		Handle: number("handle"), Token: number("token"), Permits: number("permits"),
		Place: number("place"), Time: time.UnixMicro(number("time_us")),
		Error: span("error_us"), Lasted: span("lasted_us"),
	}
}
