package mortise

import (
	"context"
	"runtime"
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

// RW is one owner of one named read-write lock: many may read at once, one may write. Who comes
// first is served first, so a waiting writer holds back later readers. A handle reads or writes.
type RW struct{ owner *owner }

var rwKind = &kind{
	whatItIs:  "read-write lock",
	free:      swig.Rw_free,
	cancel:    swig.Rw_cancel,
	interrupt: swig.Rw_interrupt,
	validMs:   swig.Rw_valid_ms,
	deadline:  swig.Rw_deadline_ns,
	token:     swig.Rw_token,
	number:    swig.Rw_hold_number,
	extend:    swig.Rw_extend_async,
	query:     swig.Rw_query,
	force:     swig.Rw_force_release,
	watch:     swig.Rw_watch,
}

var (
	reading = &mode{swig.Rw_read_unlock_hold_async, isEither}
	writing = &mode{swig.Rw_write_unlock_hold_async, isEither}
)

// isEither tells whether a read-write lock is held. C has changed its mode before a Hold knows of
// an upgrade or a downgrade, so neither of the two must slip through between the looks.
func isEither(address uintptr) int32 {
	looks := []func(uintptr) int32{swig.Rw_is_reading, swig.Rw_is_writing, swig.Rw_is_reading}
	for _, ask := range looks {
		if is := ask(address); is != 0 {
			return is
		}
	}
	return 0
}

// NewRW makes a new owner of the read-write lock of this name; see NewLock.
func (c *Client) NewRW(name string, options ...Option) (*RW, error) {
	o, err := c.newNamed(rwKind, name, options, func(client, options, details uintptr) uintptr {
		return swig.Rw_new(client, name, options, details)
	})
	if err != nil {
		return nil, err
	}
	return &RW{o}, nil
}

// Read waits until it may read, or the context is over.
func (r *RW) Read(ctx context.Context) (*Hold, error) {
	return r.own().acquire(ctx, reading, trying(swig.Rw_read_try_async), swig.Rw_read_acquire_async)
}

// TryRead reads if nobody writes or waits to write; else it is ErrNotAcquired.
func (r *RW) TryRead(ctx context.Context) (*Hold, error) {
	return r.own().acquire(ctx, reading, trying(swig.Rw_read_try_async), nil)
}

// Write waits until it may write, or the context is over.
func (r *RW) Write(ctx context.Context) (*Hold, error) {
	return r.own().acquire(ctx, writing, trying(swig.Rw_write_try_async), swig.Rw_write_acquire_async)
}

// TryWrite writes if nobody holds the lock or waits for it; else it is ErrNotAcquired.
func (r *RW) TryWrite(ctx context.Context) (*Hold, error) {
	return r.own().acquire(ctx, writing, trying(swig.Rw_write_try_async), nil)
}

// TryUpgrade turns a hold for reading into one for writing if no other reads, ahead of those who
// wait. It never waits for them, so two readers that both try cannot deadlock. The hold has a new
// fencing token then. After ErrNotAcquired it reads on. When the context ends first, the upgrade
// may still come to be.
func (r *RW) TryUpgrade(ctx context.Context, hold *Hold) error {
	return r.change(ctx, hold, (*handle).upgrade)
}

// Downgrade turns a hold for writing into one for reading, without a gap. The context bounds the
// wait for the answer only, and may be nil: from the call on, whatever it returns, the hold is for
// reading only; but for ErrNotOwner, ErrAlreadyHeld, ErrUnsupported and ErrBusy, which change
// nothing.
func (r *RW) Downgrade(ctx context.Context, hold *Hold) error {
	return r.change(given(ctx), hold, (*handle).downgrade)
}

func (r *RW) change(ctx context.Context, hold *Hold,
	turn func(h *handle, ctx context.Context, hold *Hold) error) error {
	o := r.own()
	if o == nil || hold == nil || hold.owner != o {
		return failure(ErrInvalidArgument, "hold: of another handle; give one of this read-write lock")
	}
	defer runtime.KeepAlive(o)
	if err := hold.over(); err != nil {
		return o.core().told(ctx, err)
	}
	return o.handle.told(ctx, turn(o.handle, ctx, hold))
}

func (r *RW) own() *owner {
	if r == nil {
		return nil
	}
	return r.owner
}

// IsReading tells whether this handle reads by the local clock, by itself or as a member of a
// Multi. It costs no network.
func (r *RW) IsReading() bool { return r.own().isHeld(swig.Rw_is_reading) }

// IsWriting is IsReading for writing.
func (r *RW) IsWriting() bool { return r.own().isHeld(swig.Rw_is_writing) }

// Valid is how long the hold is still valid by the local clock; 0 when nothing is held.
func (r *RW) Valid() time.Duration { return r.own().valid() }

// Token is the fencing token of the last hold, also after its end. 0 before the first. A writer's
// token is above every earlier reader's and writer's. A reader's token is above every earlier
// writer's and below every later one's, but among readers tokens do not rise: compare a reader's
// token with the highest of a writer, and store only writers' tokens.
func (r *RW) Token() int64 { return r.own().token() }

// Query asks the server who holds the lock and who waits.
func (r *RW) Query(ctx context.Context) (*Info, error) { return r.own().query(ctx) }

// ForceRelease ends somebody else's hold at once, for people who know that it is stuck: owner is
// the Owner of an entry that Query gives. Who waits is next, with a higher token; the holder is
// told, and its hold ends with ErrLost and the reason Forced. ErrNotOwner: it does not hold, or not
// any more.
func (r *RW) ForceRelease(ctx context.Context, owner string) error {
	return r.own().forceRelease(ctx, owner)
}

// Deadline is when the hold ends unless it is renewed before, in nanoseconds of CLOCK_BOOTTIME,
// which runs on while the machine is suspended; 0 when nothing is held.
func (r *RW) Deadline() int64 { return r.own().deadline() }

// Interrupt ends this handle's waiting acquire with ErrCancelled, and keeps every one that begins
// from beginning, until it is called with false. A hold is not touched. Most programs are content
// with a context.
func (r *RW) Interrupt(isOn bool) error { return r.own().interrupt(isOn) }

// Name is the name that it was made with.
func (r *RW) Name() string { return r.own().named() }

// Close gives back what is held, without waiting for the answer; a call that waits ends with
// ErrClosed, and so does every later one. A second Close does nothing.
func (r *RW) Close() error { return r.own().close() }

// upgrade has C turn reading into writing, and takes note of it when it has come to be.
func (h *handle) upgrade(ctx context.Context, hold *Hold) error {
	if err := alive(ctx); err != nil {
		return err
	}
	raised := make(chan struct{})
	c := newCall(func(told event) {
		h.terms.Lock()
		defer h.terms.Unlock()
		if told.failure == nil && told.number == hold.term.number {
			hold.term.token.Store(told.token)
			hold.mode.Store(writing)
		}
		h.raising = nil
		close(raised)
	})
	h.terms.Lock()
	err := h.start(c, swig.Rw_upgrade_try_async)
	if err == nil {
		h.raising = raised
	}
	h.terms.Unlock()
	if err != nil {
		return err
	}
	return c.wait(ctx)
}

// downgrade has C turn writing into reading, which it is as soon as C has accepted it, whatever the
// context says.
func (h *handle) downgrade(ctx context.Context, hold *Hold) error {
	c := newCall(nil)
	h.terms.Lock()
	err := h.start(c, swig.Rw_downgrade_async)
	if err == nil {
		hold.mode.Store(reading)
	}
	h.terms.Unlock()
	if err != nil {
		return err
	}
	return c.wait(ctx)
}
