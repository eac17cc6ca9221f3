package mortise

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
)

// Hold is one successful acquire. It lasts until Unlock or until it is lost. Any goroutine may use
// it. Keep the Hold or one of its contexts during the work: the garbage collector releases a Hold
// without references.
type Hold struct {
	owner    *owner // kept from being collected
	term     *term
	mode     atomic.Pointer[mode]
	unlocked atomic.Pointer[Error] // why it was over then; nil before
	isKept   bool                  // C did not take the unlock; guarded by the handle's mutex
	report   *holdReport           // nil if no listener follows it
}

// nowhere is the term of an empty Hold.
var nowhere = func() *term {
	t := newTerm(0, 0)
	t.end(noHold())
	return t
}()

func noHold() *Error { return failure(ErrInvalidArgument, "empty Hold; get one from an acquire") }

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

// Token returns the fencing token. It rises with every grant of a mutex or to a writer. For readers
// see RW.Token. Pass it to the protected resource, which must refuse a token lower than the highest
// token it has seen. It is 0 for a Multi, whose members have their own tokens.
func (h *Hold) Token() int64 { return h.during().token.Load() }

// Err returns nil while the hold lasts. After that it returns the reason for the end: ErrLost,
// ErrNotOwner after an unlock, or ErrClosed.
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

// Lost returns a channel that is closed when the hold is lost: its lease ended, or the server no
// longer has it. After an unlock the channel stays open, so its reader must also wait for Context.
func (h *Hold) Lost() <-chan struct{} { return h.during().whenLost() }

// AtRisk returns a channel that is closed when a third of the lease is left and the hold is not
// being renewed. It is closed before Lost at the latest. A closed channel stays closed: after
// Progress, AtRisk returns a new one.
func (h *Hold) AtRisk() <-chan struct{} { return h.during().when(riskOf) }

// Contended returns a channel that is closed when others wait for the lock, if the handle has
// WithContended. The work can then end early and unlock. It is a hint: all waiters may have given
// up meanwhile, and a lost message delays it until the next renewal. The channel of a Multi is
// closed when others wait for any member.
func (h *Hold) Contended() <-chan struct{} { return h.during().when(contentionOf) }

// holdKey marks the contexts that end with a hold, and keeps it from being collected meanwhile.
type holdKey struct{ hold *Hold }

// Context returns a context that is canceled when the hold is lost or unlocked. Pass it to the work
// that the lock protects. With Go 1.20 or later context.Cause returns the reason. Use Bind for work
// that already has a context.
func (h *Hold) Context() context.Context {
	return h.keptBy(h.during().context())
}

// Bind returns a child of a context that is also canceled when the hold ends. Call the function in
// the end, as with context.WithCancel.
func (h *Hold) Bind(parent context.Context) (context.Context, context.CancelFunc) {
	// What ends with the hold does not refer to it: it would not be collected while it lasts.
	bound, cancel := h.during().bounds(given(parent))
	return h.keptBy(bound), tidied(bound, cancel)
}

// keptBy is a context that keeps the hold from being collected while it is used.
func (h *Hold) keptBy(ctx context.Context) context.Context {
	return context.WithValue(ctx, holdKey{h}, true)
}

// IsHeld reports whether the hold lasts by the local clock. It sends no request. Its result is also
// correct in a process that was stopped for long.
func (h *Hold) IsHeld() bool {
	// Not by Valid, whose last millisecond is 0: who is told that the hold is over must not extend it.
	// In this order: what is held after the number was read may be another hold already.
	return h.Err() == nil && h.owner.isHeld(h.mode.Load().isHeld) && h.isLast()
}

// Valid returns how long the hold is still valid by the local clock, in whole milliseconds. It
// returns 0 after the end.
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

// Extend makes the hold last at least this long from now. A lease of 0 is the lease of the handle.
// Extend never shortens a hold. For a Multi it extends all members. If one of them fails, the error
// names that member, and the others are extended. If a member was lost before, no member is
// extended.
func (h *Hold) Extend(ctx context.Context, lease time.Duration) error {
	if err := h.over(); err != nil {
		return h.core().told(ctx, err)
	}
	defer runtime.KeepAlive(h)
	return h.core().told(ctx, h.core().extend(ctx, lease, h.term.number))
}

// Progress reports that the work under the hold goes on. With the option WithProgress, the client
// renews the hold only for that time after the last report. After AtRisk, a report resumes the
// renewals if the hold still lasts. Progress does not wait for a server, so a loop may call it for
// each item of work. Call it where work was done: in a goroutine of its own it proves nothing. For
// a Multi it reports for all members. It returns the errors of Extend that need no server.
func (h *Hold) Progress() error {
	if err := h.over(); err != nil {
		return h.core().named(err)
	}
	defer runtime.KeepAlive(h)
	return h.core().named(h.core().progress(h.term.number))
}

// SetValue sets the value of the hold: UTF-8 without zero bytes, at most 1024 bytes, which Query
// and ListLocks show to everybody. An empty value removes it. It ends with the hold. Only the owner
// of a hold in force can set it, so it never appears for a later hold. Readers that share a hold,
// and holds of a quorum, have no value.
func (h *Hold) SetValue(ctx context.Context, value string) error {
	if err := h.over(); err != nil {
		return h.core().told(ctx, err)
	}
	defer runtime.KeepAlive(h)
	return h.core().told(ctx, h.core().setValue(ctx, value, h.term.number))
}

// Unlock releases the lock. It never ends a later hold of the same handle. First it cancels the
// contexts of the hold, so that they are over before another client holds the lock. The context
// bounds only the wait for the reply: the lock is also released when the context is over or nil. A
// context that ends with this hold does not bound the wait. The command timeout bounds it instead.
//
// ErrLost means that the hold was lost before. A second Unlock returns ErrNotOwner. After ErrBusy,
// ErrLimit and ErrNoMemory the lock is not released and still renewed: call Unlock again. The Hold
// and its contexts are nevertheless over. After any other error nothing is held.
func (h *Hold) Unlock(ctx context.Context) error {
	defer runtime.KeepAlive(h)
	ctx = given(ctx)
	if ctx.Value(holdKey{h}) != nil {
		ctx = context.Background()
	}
	err := h.core().told(ctx, h.core().unlock(ctx, h))
	if h != nil {
		h.report.unlock(err)
	}
	return err
}
