package mortise

import (
	"context"
	"runtime"

	"github.com/mortise/mortise-go/internal/swig"
)

// RW is one owner of one named read-write lock: many may read at once, one may write. Who comes first
// is served first, so a waiting writer holds back later readers. A handle reads or writes.
type RW struct{ owner }

var rwKind = &kind{
	whatItIs: "read-write lock",
	free:     swig.Rw_free,
	cancel:   swig.Rw_cancel,
	validMs:  swig.Rw_valid_ms,
	token:    swig.Rw_token,
	extend:   swig.Rw_extend_async,
	query:    swig.Rw_query,
	watch:    swig.Rw_watch,
}

var (
	reading = &mode{swig.Rw_read_unlock_async, swig.Rw_is_reading}
	writing = &mode{swig.Rw_write_unlock_async, swig.Rw_is_writing}
)

// NewRW makes a new owner of the read-write lock of this name; see NewLock.
func (c *Client) NewRW(name string, options ...Option) (*RW, error) {
	o, err := c.newOwner(rwKind, options, func(client, options, details uintptr) uintptr {
		return swig.Rw_new(client, name, options, details)
	})
	if err != nil {
		return nil, err
	}
	rw := &RW{o}
	runtime.SetFinalizer(rw, func(r *RW) { r.Close() })
	return rw, nil
}

// Read waits until it may read, or the context is over.
func (r *RW) Read(ctx context.Context) (*Hold, error) {
	return r.handle.acquire(ctx, r, reading, trying(swig.Rw_read_try_async), swig.Rw_read_acquire_async)
}

// TryRead reads if nobody writes or waits to write; else it is ErrNotAcquired.
func (r *RW) TryRead(ctx context.Context) (*Hold, error) {
	return r.handle.acquire(ctx, r, reading, trying(swig.Rw_read_try_async), nil)
}

// Write waits until it may write, or the context is over.
func (r *RW) Write(ctx context.Context) (*Hold, error) {
	return r.handle.acquire(ctx, r, writing, trying(swig.Rw_write_try_async), swig.Rw_write_acquire_async)
}

// TryWrite writes if nobody holds the lock or waits for it; else it is ErrNotAcquired.
func (r *RW) TryWrite(ctx context.Context) (*Hold, error) {
	return r.handle.acquire(ctx, r, writing, trying(swig.Rw_write_try_async), nil)
}

// TryUpgrade turns a hold for reading into one for writing if no other reads, ahead of those who wait.
// It never waits for them, so two readers that both try cannot deadlock. The hold has a new fencing
// token then. After ErrNotAcquired it reads on.
func (r *RW) TryUpgrade(ctx context.Context, hold *Hold) error {
	return r.change(ctx, hold, writing, swig.Rw_upgrade_try_async)
}

// Downgrade turns a hold for writing into one for reading, without a gap. From the call on, whatever
// it returns, the hold is for reading only; but for ErrNotOwner, ErrAlreadyHeld, ErrUnsupported and
// ErrBusy, which change nothing.
func (r *RW) Downgrade(ctx context.Context, hold *Hold) error {
	return r.change(ctx, hold, reading, swig.Rw_downgrade_async)
}

func (r *RW) change(ctx context.Context, hold *Hold, to *mode,
	submit func(address, queue uintptr, tag int64, details uintptr) int32) error {
	if hold == nil || hold.handle != r.handle {
		return failure(ErrInvalidArgument, "hold: of another handle; give one of this read-write lock")
	}
	if err := hold.Err(); err != nil {
		return err
	}
	defer runtime.KeepAlive(r)
	c := newCall(func(told event) {
		if told.failure == nil && to == writing {
			hold.term.token.Store(told.token)
		}
		if told.failure == nil || to == reading && hold.isNow(reading) {
			hold.mode.Store(to)
		}
	})
	return r.handle.call(ctx, c, submit)
}

// isNow asks C, which knows how a call that was not answered is to be taken.
func (h *Hold) isNow(how *mode) bool { return look(h.handle, how.isHeld) != 0 }
