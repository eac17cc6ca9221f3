package mortise

import (
	"context"
	"runtime"

	"github.com/mortise/mortise-go/internal/swig"
)

// Semaphore is one owner of permits of one named semaphore. It holds permits once at a time; for more
// holds make more handles.
type Semaphore struct{ owner }

var semaphoreKind = &kind{
	whatItIs: "semaphore",
	free:     swig.Semaphore_free,
	cancel:   swig.Semaphore_cancel,
	validMs:  swig.Semaphore_valid_ms,
	token:    swig.Semaphore_token,
	extend:   swig.Semaphore_extend_async,
	query:    swig.Semaphore_query,
	watch:    swig.Semaphore_watch,
}

var permitted = &mode{swig.Semaphore_release_async, swig.Semaphore_is_held}

// NewSemaphore makes a new owner of permits of this name; see NewLock. The first to use the name sets
// the number of permits for all, 1 to 1000000; Resize changes it.
func (c *Client) NewSemaphore(name string, permits int64, options ...Option) (*Semaphore, error) {
	o, err := c.newOwner(semaphoreKind, options, func(client, options, details uintptr) uintptr {
		return swig.Semaphore_new(client, name, permits, options, details)
	})
	if err != nil {
		return nil, err
	}
	semaphore := &Semaphore{o}
	runtime.SetFinalizer(semaphore, func(s *Semaphore) { s.Close() })
	return semaphore, nil
}

// Acquire waits until so many permits are its own, all at once, or the context is over. Who comes
// first is served first, also when it wants many.
func (s *Semaphore) Acquire(ctx context.Context, weight int64) (*Hold, error) {
	return s.handle.acquire(ctx, s, permitted, tryingFor(weight),
		func(address, queue uintptr, tag, timeoutMs int64, details uintptr) int32 {
			return swig.Semaphore_acquire_async(address, queue, tag, weight, timeoutMs, details)
		})
}

// Try acquires so many permits if they are free and nobody waits; else it is ErrNotAcquired.
func (s *Semaphore) Try(ctx context.Context, weight int64) (*Hold, error) {
	return s.handle.acquire(ctx, s, permitted, tryingFor(weight), nil)
}

func tryingFor(weight int64) submission {
	return func(address, queue uintptr, tag, _ int64, details uintptr) int32 {
		return swig.Semaphore_try_async(address, queue, tag, weight, details)
	}
}

// Resize changes how many permits there are, for all users of the name. Holds stay.
func (s *Semaphore) Resize(ctx context.Context, permits int64) error {
	defer runtime.KeepAlive(s)
	return s.handle.blocking(ctx, func(address, details uintptr) int32 {
		return swig.Semaphore_resize(address, permits, details)
	})
}
