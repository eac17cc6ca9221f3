package mortise

import (
	"context"
	"errors"
	"log"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
)

// LockKind is the kind of a wait or a hold that a Listener receives. A later version of the library
// may add values.
type LockKind string

const (
	KindMutex     LockKind = "mutex"
	KindRead      LockKind = "read"
	KindWrite     LockKind = "write"
	KindSemaphore LockKind = "semaphore"
	KindMulti     LockKind = "multi"
)

// Listener receives the begin and the end of each wait and each hold of a client, for example to
// trace them. WithListener sets it.
//
// Each acquire begins a wait, which ends at once if the lock is free or the acquire does not wait.
// The goroutine that acquires, tries or unlocks makes the calls, before its own call returns. The
// end of a hold by a loss, or because its handle or client was closed, is called in a goroutine of
// its own, and so is an upgrade that succeeds after the end of its context. The client has locked
// nothing meanwhile. It logs the panic of a listener with package log, and continues. A listener
// that blocks delays the goroutine that called it.
type Listener interface {
	// BeginWait is called when an acquire begins, with its context. The name is the lock's, or a
	// text with the names of the members of a Multi. The result receives the end of this wait. It
	// may be nil.
	BeginWait(ctx context.Context, name string, kind LockKind) WaitListener
}

// WaitListener receives the end of one wait. One of its methods is called, once.
type WaitListener interface {
	// Granted is called when the lock is held. The token is 0 for a Multi. The result receives the
	// end of this hold. It may be nil.
	Granted(token int64) HoldListener
	// Failed is called when the acquire ends without a hold, with its error: ErrNotAcquired,
	// ErrTimedOut, ErrCancelled or another one.
	Failed(err error)
}

// HoldListener receives the end of one hold.
type HoldListener interface {
	// Changed is called after an upgrade or a downgrade, with the new token. The hold goes on.
	Changed(kind LockKind, token int64)
	// Ended is called once. The error is nil after an unlock, ErrLost after a loss, with its Reason,
	// and ErrClosed if the handle or the client was closed. After any other error the server did not
	// confirm the unlock, and the lease ends what remains of the hold.
	Ended(err error)
}

// WithListener sets a listener for the waits and holds of all handles of the client. For Open only.
func WithListener(listener Listener) Option {
	return Option{listener: listener, apply: func(uintptr) error {
		if listener == nil {
			return failure(ErrInvalidArgument, "listener: is nil; give a Listener")
		}
		return nil
	}}
}

// listenerOf is the last one among the options; nil without one.
func listenerOf(options []Option) Listener {
	var listener Listener
	for _, option := range options {
		if option.listener != nil {
			listener = option.listener
		}
	}
	return listener
}

// waitReport is one wait that a listener follows. A nil one does nothing.
type waitReport struct{ listener WaitListener }

func (h *handle) beginWait(ctx context.Context, o *owner, how *mode) *waitReport {
	if h == nil || h.engine.listener == nil {
		return nil
	}
	var follower WaitListener
	notify(func() { follower = h.engine.listener.BeginWait(ctx, o.title(), how.kind) })
	if follower == nil {
		return nil
	}
	return &waitReport{follower}
}

// title is the name of the lock, or the names of the members.
func (o *owner) title() string {
	if len(o.members) == 0 {
		return o.handle.name
	}
	names := make([]string, len(o.members))
	for i, member := range o.members {
		names[i] = strconv.Quote(member.handle.name)
	}
	return "multi of " + strings.Join(names, ", ")
}

func (w *waitReport) fail(err error) {
	if w != nil {
		notify(func() { w.listener.Failed(err) })
	}
}

func (w *waitReport) grant(hold *Hold) {
	if w == nil {
		return
	}
	var follower HoldListener
	notify(func() { follower = w.listener.Granted(hold.Token()) })
	if follower == nil {
		return
	}
	report := &holdReport{listener: follower, term: hold.term}
	report.mode.Store(hold.mode.Load())
	hold.report = report
	// What ends with the hold does not refer to it: it would not be collected while it lasts.
	bound := hold.term.bind(func(reason error) {
		if !errors.Is(reason, ErrNotOwner) { // which is an unlock, and ends it with its result
			go report.end(reason)
		}
	})
	report.bound.Store(bound)
}

// holdReport is one hold that a listener follows. A nil one does nothing.
type holdReport struct {
	listener HoldListener
	term     *term
	mode     atomic.Pointer[mode] // which the listener knows
	bound    atomic.Pointer[binding]
	isOver   atomic.Bool
}

func (r *holdReport) change(now *mode, token int64) {
	if r.mode.Swap(now) != now && !r.isOver.Load() {
		notify(func() { r.listener.Changed(now.kind, token) })
	}
}

// unlock ends it with the result of an unlock, unless the hold goes on or was over before.
func (r *holdReport) unlock(err error) {
	if r == nil {
		return
	}
	for _, status := range []Status{ErrBusy, ErrLimit, ErrNoMemory, ErrNotOwner} {
		if errors.Is(err, status) {
			return
		}
	}
	r.end(err)
}

func (r *holdReport) end(err error) {
	if r.isOver.Swap(true) {
		return
	}
	if bound := r.bound.Load(); bound != nil {
		r.term.release(bound)
	}
	notify(func() { r.listener.Ended(err) })
}

// notify calls a listener, which cannot harm the caller.
func notify(call func()) {
	defer func() {
		if thrown := recover(); thrown != nil {
			log.Printf("mortise: a Listener panicked: %v\n%s", thrown, debug.Stack())
		}
	}()
	call()
}
