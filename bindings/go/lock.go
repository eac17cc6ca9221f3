package mortise

import (
	"context"
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

// Lock is one owner of one named mutex. Two handles of one name exclude each other, even in one
// process. Give each goroutine its own handle.
type Lock struct{ owner *owner }

var lockKind = &kind{
	whatItIs:  "lock",
	free:      swig.Lock_free,
	cancel:    swig.Lock_cancel,
	interrupt: swig.Lock_interrupt,
	progress:  swig.Lock_progress,
	export:    swig.Lock_export,
	adopt:     swig.Lock_adopt,
	validMs:   swig.Lock_valid_ms,
	deadline:  swig.Lock_deadline_ns,
	token:     swig.Lock_token,
	number:    swig.Lock_hold_number,
	extend:    swig.Lock_extend_async,
	setValue:  swig.Lock_set_value_async,
	query:     swig.Lock_query,
	force:     swig.Lock_force_release,
	watch:     swig.Lock_watch,
	setTask:   swig.Lock_set_task,
}

var held = &mode{swig.Lock_unlock_hold_async, swig.Lock_is_held, KindMutex}

// NewLock makes a new owner of the mutex of this name, which is 1 to 1024 bytes of any value. It
// sends no request. Its options override those of the client.
func (c *Client) NewLock(name string, options ...Option) (*Lock, error) {
	o, err := c.newNamed(lockKind, name, options, func(client, options, details uintptr) uintptr {
		return swig.Lock_new(client, name, options, details)
	})
	if err != nil {
		return nil, err
	}
	return &Lock{o}, nil
}

// Acquire waits for its turn, in the order of arrival at the server, until the context is over. It
// releases a grant that comes too late.
func (l *Lock) Acquire(ctx context.Context) (*Hold, error) {
	return l.own().acquire(ctx, held, trying(swig.Lock_try_async), swig.Lock_acquire_async)
}

// Try acquires the lock if it is free. Otherwise it returns ErrNotAcquired.
func (l *Lock) Try(ctx context.Context) (*Hold, error) {
	return l.own().acquire(ctx, held, trying(swig.Lock_try_async), nil)
}

func (l *Lock) own() *owner {
	if l == nil {
		return nil
	}
	return l.owner
}

// IsHeld reports whether this handle holds the lock by the local clock, directly or as a member of
// a Multi. It sends no request.
func (l *Lock) IsHeld() bool { return l.own().isHeld(swig.Lock_is_held) }

// Valid returns how long the hold is still valid by the local clock, or 0 if nothing is held.
func (l *Lock) Valid() time.Duration { return l.own().valid() }

// Token returns the fencing token of the last hold, also after its end. It is 0 before the first
// hold.
func (l *Lock) Token() int64 { return l.own().token() }

// Query asks the server for the holder of the lock and its waiters.
func (l *Lock) Query(ctx context.Context) (*Info, error) { return l.own().query(ctx) }

// ForceRelease ends the hold of another owner at once. Use it only for a hold that is stuck. The
// argument is the Owner of an entry that Query returns. The next waiter is granted the lock, with a
// higher token. The holder is notified, and its hold ends with ErrLost and the reason Forced. If
// the owner does not hold the lock, or no longer, ForceRelease returns ErrNotOwner.
func (l *Lock) ForceRelease(ctx context.Context, owner string) error {
	return l.own().forceRelease(ctx, owner)
}

// Deadline returns when the hold ends unless it is renewed before, by the wall clock. It is the
// zero time if nothing is held. A step of the wall clock moves it, so use IsHeld to decide whether
// to act.
func (l *Lock) Deadline() time.Time { return l.own().deadline() }

// Interrupt ends this handle's waiting acquire with ErrCancelled. New acquires also fail with
// ErrCancelled until Interrupt is called with false. A hold is not affected. A context suffices for
// most programs.
func (l *Lock) Interrupt(isOn bool) error { return l.own().interrupt(isOn) }

// Name returns the name that the handle was made with.
func (l *Lock) Name() string { return l.own().named() }

// Close releases the hold without waiting for the reply. A waiting call ends with ErrClosed, and so
// does every later call. A second Close does nothing.
func (l *Lock) Close() error { return l.own().close() }

// trying is an acquire that does not wait.
func trying(try func(address, queue uintptr, tag int64, details uintptr) int32) submission {
	return func(address, queue uintptr, tag, _ int64, details uintptr) int32 {
		return try(address, queue, tag, details)
	}
}
