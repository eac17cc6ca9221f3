package mortise

import (
	"context"
	"runtime"

	"github.com/mortise/mortise-go/internal/swig"
)

// Lock is one owner of one named mutex. Two handles of one name exclude each other, also in one
// process. Give each goroutine that is to hold it a handle of its own.
type Lock struct{ owner }

var lockKind = &kind{
	whatItIs: "lock",
	free:     swig.Lock_free,
	cancel:   swig.Lock_cancel,
	validMs:  swig.Lock_valid_ms,
	token:    swig.Lock_token,
	extend:   swig.Lock_extend_async,
	query:    swig.Lock_query,
	watch:    swig.Lock_watch,
}

var held = &mode{swig.Lock_unlock_async, swig.Lock_is_held}

// NewLock makes a new owner of the mutex of this name, which is 1 to 1024 bytes of any value. Nothing
// is sent. Options replace those of the client as a whole.
func (c *Client) NewLock(name string, options ...Option) (*Lock, error) {
	o, err := c.newOwner(lockKind, options, func(client, options, details uintptr) uintptr {
		return swig.Lock_new(client, name, options, details)
	})
	if err != nil {
		return nil, err
	}
	lock := &Lock{o}
	runtime.SetFinalizer(lock, func(l *Lock) { l.Close() })
	return lock, nil
}

// Acquire waits for its turn, in the order of arrival at the server, until the context is over. A
// grant that comes too late is given back.
func (l *Lock) Acquire(ctx context.Context) (*Hold, error) {
	return l.handle.acquire(ctx, l, held, trying(swig.Lock_try_async), swig.Lock_acquire_async)
}

// Try acquires the lock if it is free; ErrNotAcquired when it is not.
func (l *Lock) Try(ctx context.Context) (*Hold, error) {
	return l.handle.acquire(ctx, l, held, trying(swig.Lock_try_async), nil)
}

// trying is an acquire that does not wait.
func trying(try func(address, queue uintptr, tag int64, details uintptr) int32) submission {
	return func(address, queue uintptr, tag, _ int64, details uintptr) int32 {
		return try(address, queue, tag, details)
	}
}
