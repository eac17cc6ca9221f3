package mortise

import (
	"context"
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

// Lock is one owner of one named mutex. Two handles of one name exclude each other, also in one
// process. Give each goroutine that is to hold it a handle of its own.
type Lock struct{ owner *owner }

var lockKind = &kind{
	whatItIs:  "lock",
	free:      swig.Lock_free,
	cancel:    swig.Lock_cancel,
	interrupt: swig.Lock_interrupt,
	validMs:   swig.Lock_valid_ms,
	deadline:  swig.Lock_deadline_ns,
	token:     swig.Lock_token,
	number:    swig.Lock_hold_number,
	extend:    swig.Lock_extend_async,
	query:     swig.Lock_query,
	force:     swig.Lock_force_release,
	watch:     swig.Lock_watch,
}

var held = &mode{swig.Lock_unlock_hold_async, swig.Lock_is_held}

// NewLock makes a new owner of the mutex of this name, which is 1 to 1024 bytes of any value.
// Nothing is sent. Options are laid over those of the client.
func (c *Client) NewLock(name string, options ...Option) (*Lock, error) {
	o, err := c.newNamed(lockKind, name, options, func(client, options, details uintptr) uintptr {
		return swig.Lock_new(client, name, options, details)
	})
	if err != nil {
		return nil, err
	}
	return &Lock{o}, nil
}

// Acquire waits for its turn, in the order of arrival at the server, until the context is over. A
// grant that comes too late is given back.
func (l *Lock) Acquire(ctx context.Context) (*Hold, error) {
	return l.own().acquire(ctx, held, trying(swig.Lock_try_async), swig.Lock_acquire_async)
}

// Try acquires the lock if it is free; ErrNotAcquired when it is not.
func (l *Lock) Try(ctx context.Context) (*Hold, error) {
	return l.own().acquire(ctx, held, trying(swig.Lock_try_async), nil)
}

func (l *Lock) own() *owner {
	if l == nil {
		return nil
	}
	return l.owner
}

// IsHeld tells whether this handle holds the lock by the local clock, by itself or as a member of a
// Multi. It costs no network.
func (l *Lock) IsHeld() bool { return l.own().isHeld(swig.Lock_is_held) }

// Valid is how long the hold is still valid by the local clock; 0 when nothing is held.
func (l *Lock) Valid() time.Duration { return l.own().valid() }

// Token is the fencing token of the last hold, also after its end. 0 before the first.
func (l *Lock) Token() int64 { return l.own().token() }

// Query asks the server who holds the lock and who waits.
func (l *Lock) Query(ctx context.Context) (*Info, error) { return l.own().query(ctx) }

// ForceRelease ends somebody else's hold at once, for people who know that it is stuck: owner is
// the Owner of an entry that Query gives. Who waits is next, with a higher token; the holder is
// told, and its hold ends with ErrLost and the reason Forced. ErrNotOwner: it does not hold, or not
// any more.
func (l *Lock) ForceRelease(ctx context.Context, owner string) error {
	return l.own().forceRelease(ctx, owner)
}

// Deadline is when the hold ends unless it is renewed before, in nanoseconds of CLOCK_BOOTTIME,
// which runs on while the machine is suspended; 0 when nothing is held.
func (l *Lock) Deadline() int64 { return l.own().deadline() }

// Interrupt ends this handle's waiting acquire with ErrCancelled, and keeps every one that begins
// from beginning, until it is called with false. A hold is not touched. Most programs are content
// with a context.
func (l *Lock) Interrupt(isOn bool) error { return l.own().interrupt(isOn) }

// Name is the name that it was made with.
func (l *Lock) Name() string { return l.own().named() }

// Close gives back what is held, without waiting for the answer; a call that waits ends with
// ErrClosed, and so does every later one. A second Close does nothing.
func (l *Lock) Close() error { return l.own().close() }

// trying is an acquire that does not wait.
func trying(try func(address, queue uintptr, tag int64, details uintptr) int32) submission {
	return func(address, queue uintptr, tag, _ int64, details uintptr) int32 {
		return try(address, queue, tag, details)
	}
}
