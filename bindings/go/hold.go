package mortise

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// term is one uninterrupted hold of a handle, however often that was acquired meanwhile.
type term struct {
	token  atomic.Int64
	ctx    context.Context
	cancel context.CancelFunc
	lost   chan struct{}
	atRisk chan struct{}

	count int // of Holds not unlocked; guarded by the handle's mutex

	mutex    sync.Mutex
	multi    *term // that of the multi which this is a part of
	over     *Error
	isAtRisk bool
}

func newTerm(token int64) *term {
	t := &term{lost: make(chan struct{}), atRisk: make(chan struct{}), count: 1}
	t.token.Store(token)
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t
}

// end ends the term for ever; the first reason stays.
func (t *term) end(reason *Error) {
	t.mutex.Lock()
	isFirst := t.over == nil
	if isFirst {
		t.over = reason
		if reason.Status == ErrLost {
			close(t.lost)
		}
	}
	multi := t.multi
	t.mutex.Unlock()
	if !isFirst {
		return
	}
	t.cancel()
	if multi != nil && reason.Status == ErrLost {
		multi.end(reason)
	}
}

func (t *term) risk() {
	t.mutex.Lock()
	isFirst := !t.isAtRisk
	if isFirst {
		t.isAtRisk = true
		close(t.atRisk)
	}
	multi := t.multi
	t.mutex.Unlock()
	if isFirst && multi != nil {
		multi.risk()
	}
}

// joins makes the term a part of a multi's, which is lost with it.
func (t *term) joins(multi *term) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.multi = multi
}

// leaves ends that, and says whether it was so.
func (t *term) leaves(multi *term) bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.multi != multi {
		return false
	}
	t.multi = nil
	return true
}

func (t *term) reason() *Error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.over
}

// Hold is one successful acquire. It lasts until Unlock, or until it is lost for ever. Any goroutine
// may use it.
type Hold struct {
	handle     *handle
	keepsAlive any // what the user has of the handle
	term       *term
	mode       atomic.Pointer[mode]
	isUnlocked atomic.Bool
}

// Token is the fencing token: it rises with every grant of the name. Hand it to whatever the lock
// protects, and let that refuse a token lower than the highest it has seen. 0 for a Multi, whose
// members have one each.
func (h *Hold) Token() int64 { return h.term.token.Load() }

// Err is nil while the hold lasts. Then it says why that ended: ErrLost, ErrNotOwner after an unlock,
// or ErrClosed.
func (h *Hold) Err() error {
	if h.isUnlocked.Load() {
		return failure(ErrNotOwner, "this hold was unlocked")
	}
	if over := h.term.reason(); over != nil {
		return over
	}
	return nil
}

// Lost is closed when the hold is lost: its lease ended, or the server says that it is no longer ours.
func (h *Hold) Lost() <-chan struct{} { return h.term.lost }

// AtRisk is closed when a third of the lease is left and nothing renews it.
func (h *Hold) AtRisk() <-chan struct{} { return h.term.atRisk }

type holdKey struct{}

// Context is cancelled when the hold ends, be it lost or unlocked: give it to the work that the lock
// protects. Bind is for work that has a context already.
func (h *Hold) Context() context.Context {
	// Whoever works under the context keeps the hold from being collected.
	return context.WithValue(h.term.ctx, holdKey{}, h)
}

// Bind is a child of a context that is also cancelled when the hold ends. Call the function in the
// end, as with context.WithCancel.
func (h *Hold) Bind(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithValue(parent, holdKey{}, h))
	done := h.term.ctx.Done()
	go func() {
		select {
		case <-done:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// IsHeld tells whether the hold lasts by the local clock. It costs no network, and is right also in a
// process that was stopped for long.
func (h *Hold) IsHeld() bool {
	return h.Err() == nil && look(h.handle, h.mode.Load().isHeld) != 0
}

// Valid is how long the hold is still valid by the local clock; 0 when it has ended.
func (h *Hold) Valid() time.Duration {
	if h.Err() != nil {
		return 0
	}
	return time.Duration(look(h.handle, h.handle.kind.validMs)) * time.Millisecond
}

// Extend makes the hold last at least this long from now; 0 is the lease that the handle was made
// with. It never shortens it. Not for a Multi: extend its members.
func (h *Hold) Extend(ctx context.Context, lease time.Duration) error {
	if err := h.Err(); err != nil {
		return err
	}
	defer runtime.KeepAlive(h)
	return h.handle.extend(ctx, lease)
}

// Unlock gives the lock back. The context bounds the wait for the answer only: the lock is given back
// also when the context is over. After it returns nothing is held, whatever it returns, but for
// ErrBusy: then another call on the handle is at work. ErrLost says that the hold was lost before, and
// a second Unlock is ErrNotOwner.
func (h *Hold) Unlock(ctx context.Context) error {
	defer runtime.KeepAlive(h)
	return h.handle.unlock(ctx, h)
}

// Do acquires, works and unlocks, also when the work panics. The work's context is cancelled with the
// given one, and when the hold is lost. Give it the method that acquires, such as lock.Acquire:
//
//	err := mortise.Do(ctx, lock.Acquire, func(ctx context.Context, hold *mortise.Hold) error {
//		return write(ctx, hold.Token())
//	})
//
// The error is that of acquiring, else that of the work, else that of unlocking: ErrLost tells that
// the work may not have been alone to its end.
func Do(ctx context.Context, acquire func(context.Context) (*Hold, error),
	work func(ctx context.Context, hold *Hold) error) (err error) {
	hold, err := acquire(ctx)
	if err != nil {
		return err
	}
	defer func() {
		// Not under ctx: the answer says whether the work was alone.
		if unlocked := hold.Unlock(context.Background()); err == nil {
			err = unlocked
		}
	}()
	bound, cancel := hold.Bind(ctx)
	defer cancel()
	return work(bound, hold)
}
