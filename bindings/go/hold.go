package mortise

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
)

// Hold is one successful acquire. It lasts until Unlock, or until it is lost for ever. Any
// goroutine may use it. Keep it, or one of its contexts, while you work: what nobody refers to is
// given back by the collector.
type Hold struct {
	owner    *owner // kept from being collected
	term     *term
	mode     atomic.Pointer[mode]
	unlocked atomic.Pointer[Error] // why it was over then; nil before
	isKept   bool                  // C did not take the unlock; guarded by the handle's mutex
}

// nowhere is the term of an empty Hold.
var nowhere = func() *term {
	t := newTerm(0, 0)
	t.end(noHold())
	return t
}()

func noHold() *Error { return failure(ErrInvalidArgument, "an empty Hold; make it by an acquire") }

func (h *Hold) core() *handle {
	if h == nil {
		return nil
	}
	return h.owner.core()
}

func (h *Hold) during() *term {
	if h == nil || h.term == nil {
		return nowhere
	}
	return h.term
}

// Token is the fencing token: it rises with every grant of a mutex or to a writer; for readers see
// RW.Token. Hand it to whatever the lock protects, and let that refuse a token lower than the
// highest it has seen. 0 for a Multi, whose members have one each.
func (h *Hold) Token() int64 { return h.during().token.Load() }

// Err is nil while the hold lasts. Then it says why that ended: ErrLost, ErrNotOwner after an
// unlock, or ErrClosed.
func (h *Hold) Err() error {
	if h != nil {
		if reason := h.unlocked.Load(); reason != nil {
			return reason
		}
	}
	if over := h.during().reason(); over != nil {
		return over
	}
	return nil
}

// over is Err, and knows a loss also before that was told: by the number of a later hold.
func (h *Hold) over() error {
	if err := h.Err(); err != nil {
		return err
	}
	if h.isLast() {
		return nil
	}
	if err := h.Err(); err != nil { // it was closed meanwhile
		return err
	}
	return h.core().lost()
}

// isLast tells whether the handle has had no later hold.
func (h *Hold) isLast() bool { return h.owner.number() == h.term.number }

// Lost is closed when the hold is lost: its lease ended, or the server says that it is no longer
// ours. After an unlock it stays open, so who waits for it has to wait for Context, too.
func (h *Hold) Lost() <-chan struct{} { return h.during().whenLost() }

// AtRisk is closed when a third of the lease is left and nothing renews it, at the latest before
// Lost.
func (h *Hold) AtRisk() <-chan struct{} { return h.during().whenAtRisk() }

// holdKey marks the contexts that end with a hold, and keeps it from being collected meanwhile.
type holdKey struct{ hold *Hold }

// Context is cancelled when the hold ends, be it lost or unlocked: give it to the work that the
// lock protects. With Go 1.20 or later context.Cause tells which. Bind is for work that has a
// context already.
func (h *Hold) Context() context.Context {
	return h.keptBy(h.during().context())
}

// Bind is a child of a context that is also cancelled when the hold ends. Call the function in the
// end, as with context.WithCancel.
func (h *Hold) Bind(parent context.Context) (context.Context, context.CancelFunc) {
	// What ends with the hold does not refer to it: it would not be collected while it lasts.
	bound, cancel := h.during().bounds(given(parent))
	return h.keptBy(bound), tidied(bound, cancel)
}

// keptBy is a context that keeps the hold from being collected while it is used.
func (h *Hold) keptBy(ctx context.Context) context.Context {
	return context.WithValue(ctx, holdKey{h}, true)
}

// IsHeld tells whether the hold lasts by the local clock. It costs no network, and is right also in
// a process that was stopped for long.
func (h *Hold) IsHeld() bool {
	// Not by Valid, whose last millisecond is 0: who is told that the hold is over must not extend it.
	// In this order: what is held after the number was read may be another hold already.
	return h.Err() == nil && h.owner.isHeld(h.mode.Load().isHeld) && h.isLast()
}

// Valid is how long the hold is still valid by the local clock, in whole milliseconds; 0 when it
// has ended.
func (h *Hold) Valid() time.Duration {
	if h.Err() != nil {
		return 0
	}
	valid := h.owner.valid()
	if !h.isLast() {
		return 0
	}
	return valid
}

// Extend makes the hold last at least this long from now; 0 is the lease that the handle was made
// with. It never shortens it. Of a Multi all members are extended; a failure names the one that was
// not, and the others are extended nevertheless, unless one had been lost before: then none is.
func (h *Hold) Extend(ctx context.Context, lease time.Duration) error {
	if err := h.over(); err != nil {
		return h.core().told(ctx, err)
	}
	defer runtime.KeepAlive(h)
	return h.core().told(ctx, h.core().extend(ctx, lease, h.term.number))
}

// Unlock gives the lock back, and never ends a later hold of the same handle. First it cancels the
// contexts of the hold, so that they are over before another holds. The context bounds the wait for
// the answer only: the lock is given back also when the context is over, or nil. ErrLost says that
// the hold was lost before, and a second Unlock is ErrNotOwner. After ErrBusy, ErrLimit and
// ErrNoMemory the lock was not given back, and is renewed: call Unlock once more. The Hold and its
// contexts are over all the same. After anything else nothing is held. A context that ends with
// this very hold bounds nothing here; the wait then ends with the command timeout at the latest.
func (h *Hold) Unlock(ctx context.Context) error {
	defer runtime.KeepAlive(h)
	ctx = given(ctx)
	if ctx.Value(holdKey{h}) != nil {
		ctx = context.Background()
	}
	return h.core().told(ctx, h.core().unlock(ctx, h))
}
