package mortise

import (
	"context"
	"runtime"
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

// RW is one owner of one named read-write lock: many owners may read at once, or one may write.
// Waiters are served in the order of arrival, so a waiting writer holds back later readers. A
// handle either reads or writes.
type RW struct{ owner *owner }

var rwKind = &kind{
	whatItIs:  "read-write lock",
	free:      swig.Rw_free,
	cancel:    swig.Rw_cancel,
	interrupt: swig.Rw_interrupt,
	progress:  swig.Rw_progress,
	export:    swig.Rw_export,
	adopt:     swig.Rw_adopt,
	validMs:   swig.Rw_valid_ms,
	deadline:  swig.Rw_deadline_ns,
	token:     swig.Rw_token,
	number:    swig.Rw_hold_number,
	extend:    swig.Rw_extend_async,
	setValue:  swig.Rw_set_value_async,
	query:     swig.Rw_query,
	force:     swig.Rw_force_release,
	watch:     swig.Rw_watch,
	setTask:   swig.Rw_set_task,
}

var (
	reading = &mode{swig.Rw_read_unlock_hold_async, isEither, KindRead}
	writing = &mode{swig.Rw_write_unlock_hold_async, isEither, KindWrite}
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

// Read waits until the handle may read, or the context is over.
func (r *RW) Read(ctx context.Context) (*Hold, error) {
	return r.own().acquire(ctx, reading, trying(swig.Rw_read_try_async), swig.Rw_read_acquire_async)
}

// TryRead acquires the lock for reading if there is no writer and no waiting writer. Otherwise it
// returns ErrNotAcquired.
func (r *RW) TryRead(ctx context.Context) (*Hold, error) {
	return r.own().acquire(ctx, reading, trying(swig.Rw_read_try_async), nil)
}

// Write waits until the handle may write, or the context is over.
func (r *RW) Write(ctx context.Context) (*Hold, error) {
	return r.own().acquire(ctx, writing, trying(swig.Rw_write_try_async), swig.Rw_write_acquire_async)
}

// TryWrite acquires the lock for writing if there is no holder and no waiter. Otherwise it returns
// ErrNotAcquired.
func (r *RW) TryWrite(ctx context.Context) (*Hold, error) {
	return r.own().acquire(ctx, writing, trying(swig.Rw_write_try_async), nil)
}

// TryUpgrade turns a hold for reading into a hold for writing, ahead of all waiters, if there is no
// other reader. It never waits for other readers, so two readers that both try cannot deadlock. The
// upgraded hold has a new fencing token. After ErrNotAcquired the handle still reads. When the
// context ends first, the upgrade may still succeed.
func (r *RW) TryUpgrade(ctx context.Context, hold *Hold) error {
	return r.change(ctx, hold, (*handle).upgrade)
}

// Downgrade turns a hold for writing into a hold for reading, without a gap. The context bounds
// only the wait for the reply, and may be nil. From the call on, whatever it returns, the hold is
// for reading only. The exceptions are ErrNotOwner, ErrAlreadyHeld, ErrUnsupported and ErrBusy,
// which change nothing.
func (r *RW) Downgrade(ctx context.Context, hold *Hold) error {
	return r.change(given(ctx), hold, (*handle).downgrade)
}

func (r *RW) change(ctx context.Context, hold *Hold,
	turn func(h *handle, ctx context.Context, hold *Hold) error) error {
	o := r.own()
	if o == nil || hold == nil || hold.owner != o {
		return failure(ErrInvalidArgument, "hold: is of another handle; give one of this handle")
	}
	defer runtime.KeepAlive(o)
	if err := hold.over(); err != nil {
		return o.core().told(ctx, err)
	}
	err := turn(o.handle, ctx, hold)
	hold.reportChange()
	return o.handle.told(ctx, err)
}

// reportChange notifies a listener of a new mode, also of one that comes after the context.
func (h *Hold) reportChange() {
	if h.report == nil {
		return
	}
	raising := h.core().isRaising()
	if raising == nil {
		h.report.change(h.mode.Load(), h.Token())
		return
	}
	go func() {
		<-raising
		h.report.change(h.mode.Load(), h.Token())
	}()
}

// isRaising is closed when the upgrade at work has ended; nil without one.
func (h *handle) isRaising() <-chan struct{} {
	h.terms.Lock()
	defer h.terms.Unlock()
	return h.raising
}

func (r *RW) own() *owner {
	if r == nil {
		return nil
	}
	return r.owner
}

// IsReading reports whether this handle reads by the local clock, directly or as a member of a
// Multi. It sends no request.
func (r *RW) IsReading() bool { return r.own().isHeld(swig.Rw_is_reading) }

// IsWriting is like IsReading, for writing.
func (r *RW) IsWriting() bool { return r.own().isHeld(swig.Rw_is_writing) }

// Valid returns how long the hold is still valid by the local clock, or 0 if nothing is held.
func (r *RW) Valid() time.Duration { return r.own().valid() }

// Token returns the fencing token of the last hold, also after its end. It is 0 before the first
// hold. A writer's token is above every earlier token of readers and writers. A reader's token is
// above every earlier writer's token and below every later one. Among readers, tokens do not rise.
// Compare a reader's token with the highest token of a writer, and store only writers' tokens.
func (r *RW) Token() int64 { return r.own().token() }

// Query asks the server for the holders of the lock and its waiters.
func (r *RW) Query(ctx context.Context) (*Info, error) { return r.own().query(ctx) }

// ForceRelease ends the hold of another owner at once. Use it only for a hold that is stuck. The
// argument is the Owner of an entry that Query returns. The next waiter is granted the lock, with a
// higher token. The holder is notified, and its hold ends with ErrLost and the reason Forced. If
// the owner does not hold the lock, or no longer, ForceRelease returns ErrNotOwner.
func (r *RW) ForceRelease(ctx context.Context, owner string) error {
	return r.own().forceRelease(ctx, owner)
}

// Deadline returns when the hold ends unless it is renewed before, by the wall clock. It is the
// zero time if nothing is held. A step of the wall clock moves it, so use IsHeld to decide whether
// to act.
func (r *RW) Deadline() time.Time { return r.own().deadline() }

// Interrupt ends this handle's waiting acquire with ErrCancelled. New acquires also fail with
// ErrCancelled until Interrupt is called with false. A hold is not affected. A context suffices for
// most programs.
func (r *RW) Interrupt(isOn bool) error { return r.own().interrupt(isOn) }

// Name returns the name that the handle was made with.
func (r *RW) Name() string { return r.own().named() }

// Close releases the hold without waiting for the reply. A waiting call ends with ErrClosed, and so
// does every later call. A second Close does nothing.
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
	err := h.start(c, swig.Rw_upgrade_async)
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
