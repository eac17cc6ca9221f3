package mortise

import (
	"context"
	"runtime"
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

// Semaphore is one owner of permits of one named semaphore. It holds permits once at a time; for
// more holds make more handles.
type Semaphore struct{ owner *owner }

var semaphoreKind = &kind{
	whatItIs:  "semaphore",
	free:      swig.Semaphore_free,
	cancel:    swig.Semaphore_cancel,
	interrupt: swig.Semaphore_interrupt,
	validMs:   swig.Semaphore_valid_ms,
	deadline:  swig.Semaphore_deadline_ns,
	token:     swig.Semaphore_token,
	number:    swig.Semaphore_hold_number,
	extend:    swig.Semaphore_extend_async,
	query:     swig.Semaphore_query,
	force:     swig.Semaphore_force_release,
	watch:     swig.Semaphore_watch,
}

var permitted = &mode{swig.Semaphore_release_hold_async, swig.Semaphore_is_held}

// NewSemaphore makes a new owner of permits of this name; see NewLock. The first to use the name
// sets the number of permits for all, 1 to 1000000; Resize changes it.
func (c *Client) NewSemaphore(name string, permits int64, options ...Option) (*Semaphore, error) {
	o, err := c.newNamed(semaphoreKind, name, options, func(client, options, details uintptr) uintptr {
		return swig.Semaphore_new(client, name, permits, options, details)
	})
	if err != nil {
		return nil, err
	}
	return &Semaphore{o}, nil
}

// Acquire waits until so many permits are its own, all at once, or the context is over. Who comes
// first is served first, also when it wants many.
func (s *Semaphore) Acquire(ctx context.Context, weight int64) (*Hold, error) {
	return s.own().acquire(ctx, permitted, tryingFor(weight),
		func(address, queue uintptr, tag, timeoutMs int64, details uintptr) int32 {
			return swig.Semaphore_acquire_async(address, queue, tag, weight, timeoutMs, details)
		})
}

// Try acquires so many permits if they are free and nobody waits; else it is ErrNotAcquired.
func (s *Semaphore) Try(ctx context.Context, weight int64) (*Hold, error) {
	return s.own().acquire(ctx, permitted, tryingFor(weight), nil)
}

func tryingFor(weight int64) submission {
	return func(address, queue uintptr, tag, _ int64, details uintptr) int32 {
		return swig.Semaphore_try_async(address, queue, tag, weight, details)
	}
}

// Resize changes how many permits there are, for all users of the name. Holds stay.
func (s *Semaphore) Resize(ctx context.Context, permits int64) error {
	o := s.own()
	defer runtime.KeepAlive(o)
	return o.core().told(ctx, o.core().blocking(ctx, func(address, details uintptr) int32 {
		return swig.Semaphore_resize(address, permits, details)
	}))
}

func (s *Semaphore) own() *owner {
	if s == nil {
		return nil
	}
	return s.owner
}

// IsHeld tells whether this handle holds permits by the local clock, by itself or as a member of a
// Multi. It costs no network.
func (s *Semaphore) IsHeld() bool { return s.own().isHeld(swig.Semaphore_is_held) }

// Valid is how long the hold is still valid by the local clock; 0 when nothing is held.
func (s *Semaphore) Valid() time.Duration { return s.own().valid() }

// Token is the fencing token of the last hold, also after its end. 0 before the first.
func (s *Semaphore) Token() int64 { return s.own().token() }

// Query asks the server who holds permits and who waits.
func (s *Semaphore) Query(ctx context.Context) (*Info, error) { return s.own().query(ctx) }

// ForceRelease ends somebody else's hold at once, for people who know that it is stuck: owner is
// the Owner of an entry that Query gives. Who waits is next, with a higher token; the holder is
// told, and its hold ends with ErrLost and the reason Forced. ErrNotOwner: it does not hold, or not
// any more.
func (s *Semaphore) ForceRelease(ctx context.Context, owner string) error {
	return s.own().forceRelease(ctx, owner)
}

// Deadline is when the hold ends unless it is renewed before, in nanoseconds of CLOCK_BOOTTIME,
// which runs on while the machine is suspended; 0 when nothing is held.
func (s *Semaphore) Deadline() int64 { return s.own().deadline() }

// Interrupt ends this handle's waiting acquire with ErrCancelled, and keeps every one that begins
// from beginning, until it is called with false. A hold is not touched. Most programs are content
// with a context.
func (s *Semaphore) Interrupt(isOn bool) error { return s.own().interrupt(isOn) }

// Name is the name that it was made with.
func (s *Semaphore) Name() string { return s.own().named() }

// Close gives back what is held, without waiting for the answer; a call that waits ends with
// ErrClosed, and so does every later one. A second Close does nothing.
func (s *Semaphore) Close() error { return s.own().close() }
