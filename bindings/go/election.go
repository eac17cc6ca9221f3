package mortise

import (
	"context"
	"runtime"
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

// Election is one candidate of one named election, or an observer of it. The election is the mutex
// of its name, whose holder leads. Give each goroutine its own candidate.
type Election struct{ owner *owner }

var electionKind = &kind{
	whatItIs:  "election",
	free:      swig.Election_free,
	cancel:    swig.Election_cancel,
	interrupt: swig.Election_interrupt,
	progress:  swig.Election_progress,
	validMs:   swig.Election_valid_ms,
	deadline:  swig.Election_deadline_ns,
	token:     swig.Election_token,
	number:    swig.Election_hold_number,
	extend:    swig.Election_extend_async,
	setValue:  swig.Election_set_value_async,
	query:     swig.Election_query,
	force:     swig.Election_force_release,
	watch:     swig.Election_watch,
	setTask:   swig.Election_set_task,
}

var leading = &mode{swig.Election_resign_hold_async, swig.Election_is_leader, KindMutex}

// NewElection makes a candidate of the election of this name, which is 1 to 1024 bytes of any
// value. It sends no request. Its options override those of the client. WithLease is the time
// without a leader after a crash. A leadership lasts at most WithMaxHold, one hour by default.
// WithValue sets a text for each leadership, such as an address, which everybody can read.
func (c *Client) NewElection(name string, options ...Option) (*Election, error) {
	o, err := c.newNamed(electionKind, name, options, func(client, options, details uintptr) uintptr {
		return swig.Election_new(client, name, options, details)
	})
	if err != nil {
		return nil, err
	}
	return &Election{o}, nil
}

// Campaign waits until this candidate leads, in the order of arrival at the server, until the
// context is over. The leadership is a Hold: Unlock resigns, and its context is canceled when the
// leadership is lost. Do works with it:
//
//	err := mortise.Do(ctx, election.Campaign, lead)
func (e *Election) Campaign(ctx context.Context) (*Hold, error) {
	return e.own().acquire(ctx, leading, tryCampaign, swig.Election_campaign_async)
}

// TryCampaign leads if nobody else does. Otherwise it returns ErrNotAcquired.
func (e *Election) TryCampaign(ctx context.Context) (*Hold, error) {
	return e.own().acquire(ctx, leading, tryCampaign, nil)
}

func tryCampaign(address, queue uintptr, tag, _ int64, details uintptr) int32 {
	return swig.Election_campaign_async(address, queue, tag, 0, details)
}

func (e *Election) own() *owner {
	if e == nil {
		return nil
	}
	return e.owner
}

// IsLeader reports whether this candidate leads by the local clock. It sends no request.
func (e *Election) IsLeader() bool { return e.own().isHeld(swig.Election_is_leader) }

// Valid returns how long the leadership is still valid by the local clock, or 0 without one.
func (e *Election) Valid() time.Duration { return e.own().valid() }

// Token returns the fencing token of the last leadership, also after its end. It is 0 before the
// first.
func (e *Election) Token() int64 { return e.own().token() }

// Deadline returns when the leadership ends unless it is renewed before; see Lock.Deadline.
func (e *Election) Deadline() time.Time { return e.own().deadline() }

// Query asks the server for the leader, which is the holder, and the waiting candidates.
func (e *Election) Query(ctx context.Context) (*Info, error) { return e.own().query(ctx) }

// Leader asks the server for the leader. It returns nil if nobody leads. The answer may be old: use
// Hold.IsHeld to decide whether to act.
func (e *Election) Leader(ctx context.Context) (*Leader, error) {
	info, err := e.Query(ctx)
	if err != nil {
		return nil, err
	}
	return leaderIn(info), nil
}

// Observe sends the leader, without a campaign: at once, and after each change of the leader or of
// its value. The leader is nil while nobody leads. The client queries the server at this interval,
// or each second with 0, so a change is sent up to one interval late. See mortise_election_observe.
//
// The channel keeps the newest leader for its reader. It is closed when ctx is over, when the
// client or the election is closed, or by the next call of Observe, which replaces it.
func (e *Election) Observe(ctx context.Context, interval time.Duration) (<-chan *Leader, error) {
	o := e.own()
	defer runtime.KeepAlive(o)
	leaders, err := o.core().observe(ctx, o, interval)
	return leaders, o.core().told(ctx, err)
}

// ForceRelease ends the leadership of another candidate at once; see Lock.ForceRelease.
func (e *Election) ForceRelease(ctx context.Context, owner string) error {
	return e.own().forceRelease(ctx, owner)
}

// Interrupt ends this handle's campaign with ErrCancelled. New campaigns also fail until Interrupt
// is called with false. A leadership is not affected.
func (e *Election) Interrupt(isOn bool) error { return e.own().interrupt(isOn) }

// Name returns the name that the handle was made with.
func (e *Election) Name() string { return e.own().named() }

// Close resigns without waiting for the reply, and ends a campaign and the channel of Observe.
// Every later call returns ErrClosed. A second Close does nothing.
func (e *Election) Close() error { return e.own().close() }
