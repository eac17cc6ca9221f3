package mortise

import (
	"context"
	"runtime"
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

// Semaphore is one owner of permits of one named semaphore. It has one hold at a time. Make more
// handles for more holds.
type Semaphore struct{ owner *owner }

var semaphoreKind = &kind{
	whatItIs:  "semaphore",
	free:      swig.Semaphore_free,
	cancel:    swig.Semaphore_cancel,
	interrupt: swig.Semaphore_interrupt,
	progress:  swig.Semaphore_progress,
	export:    swig.Semaphore_export,
	adopt:     swig.Semaphore_adopt,
	validMs:   swig.Semaphore_valid_ms,
	deadline:  swig.Semaphore_deadline_ns,
	token:     swig.Semaphore_token,
	number:    swig.Semaphore_hold_number,
	extend:    swig.Semaphore_extend_async,
	setValue:  swig.Semaphore_set_value_async,
	query:     swig.Semaphore_query,
	force:     swig.Semaphore_force_release,
	watch:     swig.Semaphore_watch,
	setTask:   swig.Semaphore_set_task,
}

var permitted = &mode{swig.Semaphore_release_hold_async, swig.Semaphore_is_held, KindSemaphore}

// NewSemaphore makes a new owner of permits of the semaphore of this name; see NewLock. The first
// user of the name sets the number of permits for all, 1 to 1000000. Resize changes it.
func (c *Client) NewSemaphore(name string, capacity int64, options ...Option) (*Semaphore, error) {
	o, err := c.newNamed(semaphoreKind, name, options, func(client, options, details uintptr) uintptr {
		return swig.Semaphore_new(client, name, capacity, options, details)
	})
	if err != nil {
		return nil, err
	}
	return &Semaphore{o}, nil
}

// Acquire waits until this number of permits are granted, all at once, or the context is over.
// Waiters are served in the order of arrival, even if the first needs many permits.
func (s *Semaphore) Acquire(ctx context.Context, permits int64) (*Hold, error) {
	return s.own().acquire(ctx, permitted, tryingFor(permits),
		func(address, queue uintptr, tag, timeoutMs int64, details uintptr) int32 {
			return swig.Semaphore_acquire_async(address, queue, tag, permits, timeoutMs, details)
		})
}

// Try acquires this number of permits if they are free and there is no waiter. Otherwise it returns
// ErrNotAcquired.
func (s *Semaphore) Try(ctx context.Context, permits int64) (*Hold, error) {
	return s.own().acquire(ctx, permitted, tryingFor(permits), nil)
}

func tryingFor(permits int64) submission {
	return func(address, queue uintptr, tag, _ int64, details uintptr) int32 {
		return swig.Semaphore_try_async(address, queue, tag, permits, details)
	}
}

// Resize changes the number of permits for all users of the name. Existing holds remain.
func (s *Semaphore) Resize(ctx context.Context, capacity int64) error {
	o := s.own()
	defer runtime.KeepAlive(o)
	return o.core().told(ctx, o.core().blocking(ctx, func(address, details uintptr) int32 {
		return swig.Semaphore_resize(address, capacity, details)
	}))
}

func (s *Semaphore) own() *owner {
	if s == nil {
		return nil
	}
	return s.owner
}

// IsHeld reports whether this handle holds permits by the local clock, directly or as a member of a
// Multi. It sends no request.
func (s *Semaphore) IsHeld() bool { return s.own().isHeld(swig.Semaphore_is_held) }

// Valid returns how long the hold is still valid by the local clock, or 0 if nothing is held.
func (s *Semaphore) Valid() time.Duration { return s.own().valid() }

// Token returns the fencing token of the last hold, also after its end. It is 0 before the first
// hold.
func (s *Semaphore) Token() int64 { return s.own().token() }

// Query asks the server for the holders of permits and the waiters.
func (s *Semaphore) Query(ctx context.Context) (*Info, error) { return s.own().query(ctx) }

// ForceRelease ends the hold of another owner at once. Use it only for a hold that is stuck. The
// argument is the Owner of an entry that Query returns. The next waiters are granted the permits,
// with higher tokens. The holder is notified, and its hold ends with ErrLost and the reason Forced.
// If the owner holds no permits, or no longer, ForceRelease returns ErrNotOwner.
func (s *Semaphore) ForceRelease(ctx context.Context, owner string) error {
	return s.own().forceRelease(ctx, owner)
}

// Deadline returns when the hold ends unless it is renewed before, by the wall clock. It is the
// zero time if nothing is held. A step of the wall clock moves it, so use IsHeld to decide whether
// to act.
func (s *Semaphore) Deadline() time.Time { return s.own().deadline() }

// Interrupt ends this handle's waiting acquire with ErrCancelled. New acquires also fail with
// ErrCancelled until Interrupt is called with false. A hold is not affected. A context suffices for
// most programs.
func (s *Semaphore) Interrupt(isOn bool) error { return s.own().interrupt(isOn) }

// Name returns the name that the handle was made with.
func (s *Semaphore) Name() string { return s.own().named() }

// Close releases the hold without waiting for the reply. A waiting call ends with ErrClosed, and so
// does every later call. A second Close does nothing.
func (s *Semaphore) Close() error { return s.own().close() }
