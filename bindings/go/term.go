package mortise

import (
	"context"
	"sync"
	"sync/atomic"
)

// term is one uninterrupted hold of a handle, however often that was acquired meanwhile. What
// nobody has asked for is not made.
type term struct {
	number int64        // of the hold in C: later holds may have the same token
	token  atomic.Int64 // which an upgrade changes
	count  int          // of Holds not unlocked; guarded by the handle's mutex

	mutex    sync.Mutex
	multi    *term // that of the multi which this is a part of; it ends with this
	over     *Error
	ctx      context.Context
	lost     chan struct{}
	atRisk   signal
	wanted   signal
	bindings []*binding // until it is over
}

// signal is a notice that a term gets at most once; guarded by its mutex.
type signal struct {
	isGiven bool
	channel chan struct{} // nil until it is asked for
}

// A notice of a term, for give and when.
func riskOf(t *term) *signal       { return &t.atRisk }
func contentionOf(t *term) *signal { return &t.wanted }

// binding is something that is cancelled with a term.
type binding struct {
	cancel func(cause error)
	place  int
}

func newTerm(token, number int64) *term {
	t := &term{number: number, count: 1}
	t.token.Store(token)
	return t
}

// end ends the term for ever. The first reason stays, unless it is that of an unlock which then
// found the hold lost.
func (t *term) end(reason *Error) {
	isLoss := reason.Status == ErrLost
	if isLoss {
		t.give(riskOf) // also where that notice comes later
	}
	t.mutex.Lock()
	if t.over != nil && !(isLoss && t.over.Status == ErrNotOwner) {
		t.mutex.Unlock()
		return
	}
	t.over = reason
	if isLoss && t.lost != nil {
		close(t.lost)
	}
	multi, bindings := t.multi, t.bindings
	t.bindings = nil
	t.mutex.Unlock()
	for _, bound := range bindings {
		bound.cancel(reason)
	}
	if multi != nil {
		multi.end(reason)
	}
}

// give passes a notice to the term and to its multi, once.
func (t *term) give(which func(*term) *signal) {
	t.mutex.Lock()
	given := which(t)
	isFirst := !given.isGiven
	given.isGiven = true
	if isFirst && given.channel != nil {
		close(given.channel)
	}
	multi := t.multi
	t.mutex.Unlock()
	if isFirst && multi != nil {
		multi.give(which)
	}
}

// progresses means that a risk may be reported once more, on another channel.
func (t *term) progresses() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.over == nil && t.atRisk.isGiven {
		t.atRisk = signal{}
	}
}

// whenLost is closed when it ends by being lost.
func (t *term) whenLost() chan struct{} {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return madeOnce(&t.lost, t.over != nil && t.over.Status == ErrLost)
}

// when is closed at a notice of the term.
func (t *term) when(which func(*term) *signal) chan struct{} {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	asked := which(t)
	return madeOnce(&asked.channel, asked.isGiven)
}

func madeOnce(channel *chan struct{}, isClosed bool) chan struct{} {
	if *channel == nil {
		*channel = make(chan struct{})
		if isClosed {
			close(*channel)
		}
	}
	return *channel
}

// context ends with the term, for the same reason.
func (t *term) context() context.Context {
	t.mutex.Lock()
	ctx := t.ctx
	var cancel func(cause error)
	if ctx == nil {
		ctx, cancel = withCause(context.Background())
		t.ctx = ctx
	}
	t.mutex.Unlock()
	if cancel != nil {
		t.bind(cancel)
	}
	return ctx
}

// bind has something cancelled when the term ends, unless it is released before.
func (t *term) bind(cancel func(cause error)) *binding {
	t.mutex.Lock()
	over := t.over
	bound := &binding{cancel, len(t.bindings)}
	if over == nil {
		t.bindings = append(t.bindings, bound)
	}
	t.mutex.Unlock()
	if over != nil {
		cancel(over)
	}
	return bound
}

func (t *term) release(bound *binding) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	last := len(t.bindings) - 1
	if bound.place > last || t.bindings[bound.place] != bound {
		return // it was released before, or all were
	}
	t.bindings[bound.place] = t.bindings[last]
	t.bindings[bound.place].place = bound.place
	t.bindings[last] = nil
	t.bindings = t.bindings[:last]
}

// bounds is a child of a context that ends also with the term, for the same reason. The function
// has to be called in the end.
func (t *term) bounds(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := withCause(parent)
	bound := t.bind(cancel)
	return ctx, func() {
		t.release(bound)
		cancel(nil)
	}
}

// joins makes the term a part of a multi's, which ends with it, also when it ended before.
func (t *term) joins(multi *term) {
	t.mutex.Lock()
	t.multi = multi
	over, isAtRisk, isWanted := t.over, t.atRisk.isGiven, t.wanted.isGiven
	t.mutex.Unlock()
	if isAtRisk {
		multi.give(riskOf)
	}
	if isWanted {
		multi.give(contentionOf)
	}
	if over != nil {
		multi.end(over)
	}
}

func (t *term) isPartOf(multi *term) bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.multi == multi
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
