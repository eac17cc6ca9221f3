package mortise

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

// kind is how one kind of handle is called in C.
type kind struct {
	free      func(address uintptr)
	cancel    func(address, details uintptr) int32
	interrupt func(address uintptr, isOn int32, details uintptr) int32
	progress  func(address, details uintptr) int32
	export    func(address uintptr, leaseMs int64, details uintptr) uintptr // nil of a multi
	adopt     func(address uintptr, id string, details uintptr) int32       // likewise
	validMs   func(address uintptr) int64
	deadline  func(address uintptr) int64
	token     func(address uintptr) int64
	number    func(address uintptr) int64
	extend    func(address, queue uintptr, tag, leaseMs int64, details uintptr) int32
	setValue  func(address, queue uintptr, tag int64, value string, details uintptr) int32
	query     func(address, info, details uintptr) int32
	force     func(address uintptr, owner string, details uintptr) int32
	watch     func(address, queue uintptr, tag int64, details uintptr) int32
	setTask   func(address uintptr, task int64, details uintptr) int32
	whatItIs  string
}

// mode is how something is held: a lock can be held to read or to write.
type mode struct {
	unlock func(address, queue uintptr, tag, number int64, details uintptr) int32
	isHeld func(address uintptr) int32
	kind   LockKind
}

// submission hands an acquire to C.
type submission func(address, queue uintptr, tag, timeoutMs int64, details uintptr) int32

// handle is one owner of one name, or of several. The user's object refers to it and not the other
// way round, so that the collector can tell when the user has none.
type handle struct {
	native
	engine  *engine
	kind    *kind
	name    string // of the lock; empty of a multi
	tag     int64
	members []*handle // of a multi; never changed once it can be used
	// Of an election that is observed; guarded by the engine's mutex.
	observation *observation
	vain        *atomic.Int32 // how many acquires of its name are not to try first; nil of a multi

	terms       sync.Mutex
	term        *term
	number      int64    // of the last hold that was taken note of
	early       []notice // of holds that are not known yet; the last ones
	isAcquiring bool
	task        int64         // of the last acquire; of the goroutine that acquires
	raising     chan struct{} // closed when the upgrade at work has ended
	departing   chan struct{} // closed when the unlock has ended that nobody waited for
}

func newHandle(e *engine, k *kind, create func(client uintptr) (uintptr, error)) (*handle, error) {
	if e == nil {
		return nil, noClient()
	}
	client, err := e.client.enter()
	if err != nil {
		return nil, clientClosed()
	}
	defer e.client.leave()
	address, err := create(client)
	if err != nil {
		return nil, err
	}
	h := &handle{engine: e, kind: k}
	h.address = address
	h.free = k.free
	h.users = 1 // the watch, which lets an end of the client find it
	defer h.leave()
	if err := e.watch(h); err != nil {
		h.native.close(nil)
		return nil, err
	}
	return h, nil
}

// close gives back what is held. Calls that wait end with ErrClosed.
func (h *handle) close() error {
	if h == nil {
		return nil
	}
	h.dropTerm(handleClosed()) // before the lock is released
	// It is freed, which ends a wait, when nobody is inside: a query may be there for long.
	if h.native.close(func(address uintptr) { h.kind.cancel(address, 0) }) {
		h.engine.unwatch(h)
	}
	h.engine.overObservation(h) // no other begins any more
	h.dropTerm(handleClosed())  // of a grant between the first and the close
	return nil
}

func handleClosed() *Error { return failure(ErrClosed, "the handle was closed") }

func (h *handle) enter() (uintptr, error) {
	if h == nil {
		return 0, failure(ErrInvalidArgument, "empty handle; make one with a Client")
	}
	address, err := h.native.enter()
	if err != nil {
		return 0, failure(ErrClosed, "this "+h.kind.whatItIs+" was closed")
	}
	return address, nil
}

// look asks C something that it knows by itself; 0 after the end.
func look[number int32 | int64](h *handle, ask func(address uintptr) number) number {
	address, err := h.enter()
	if err != nil {
		return 0
	}
	defer h.leave()
	return ask(address)
}

// call hands a call to C, and waits for its end or that of the context.
func (h *handle) call(ctx context.Context, c *call,
	submit func(address, queue uintptr, tag int64, details uintptr) int32) error {
	if err := alive(ctx); err != nil {
		return err
	}
	if err := h.start(c, submit); err != nil {
		return err
	}
	return c.wait(ctx)
}

func (h *handle) start(c *call,
	submit func(address, queue uintptr, tag int64, details uintptr) int32) error {
	address, err := h.enter()
	if err != nil {
		return err
	}
	defer h.leave()
	return h.engine.start(c, func(queue uintptr, tag int64, details uintptr) int32 {
		return submit(address, queue, tag, details)
	})
}

// grant takes note of an acquire. The number tells whether it began a hold, or is one more of the
// hold there is.
func (h *handle) grant(token, number int64) *term {
	h.terms.Lock()
	defer h.terms.Unlock()
	if h.native.hasClosed() { // which released the lock, and no longer ends terms
		closed := newTerm(token, number)
		closed.end(h.named(h.engine.translate(handleClosed())).(*Error))
		return closed
	}
	if h.term != nil && h.term.number == number {
		h.term.count++
		return h.term
	}
	if number < h.number { // of a member, which was lost and has a hold of its own since
		passed := newTerm(token, number)
		passed.end(h.lost())
		return passed
	}
	if h.term != nil {
		h.term.end(h.lost())
	}
	h.term = newTerm(token, number)
	h.number = number
	for _, notice := range h.early {
		if notice.number == number {
			notice.tell(h.term)
		}
	}
	h.early = nil
	h.grantMembers()
	return h.term
}

// grantMembers takes note of what the members hold as parts of a multi's new hold; guarded by the
// terms' mutex.
func (h *handle) grantMembers() {
	if len(h.members) == 0 {
		return
	}
	type part struct{ token, number int64 }
	parts := make([]part, len(h.members))
	for i, member := range h.members {
		parts[i] = part{look(member, member.kind.token), look(member, member.kind.number)}
	}
	// A member that was lost may have a hold of its own by now, whose number is no part of this. C
	// knows; and what all hold now they held when they were asked.
	if look(h, allHeld.isHeld) == 0 {
		h.term.end(h.failure(ErrLost, "a member was lost"))
		return
	}
	for i, member := range h.members {
		member.grant(parts[i].token, parts[i].number).joins(h.term)
	}
}

func (h *handle) lost() *Error {
	return h.failure(ErrLost, "the hold was lost before the next grant")
}

// forget takes note of one unlock; guarded by the terms' mutex.
func (h *handle) forget(t *term, reason *Error) {
	t.count--
	if t.count > 0 {
		return
	}
	if h.term == t {
		h.term = nil
	}
	t.end(reason)
	for _, member := range h.members {
		member.terms.Lock()
		if member.term != nil && member.term.leaves(t) {
			member.forget(member.term, reason)
		}
		member.terms.Unlock()
	}
}

// dropTerm ends what is held, however often it was acquired.
func (h *handle) dropTerm(reason *Error) {
	h.terms.Lock()
	defer h.terms.Unlock()
	if h.term != nil {
		h.term.count = 1
		h.forget(h.term, h.named(reason).(*Error))
	}
}

// notice is that a hold is lost or at risk, or that others wait for it.
type notice struct {
	kind   int64
	number int64
	lost   *Error
}

// mostEarly is the limit of early notices. Failed attempts of a multi leave notices of holds that
// the handle never learns of.
const mostEarly = 16

func (n notice) tell(t *term) {
	switch n.kind {
	case eventAtRisk:
		t.give(riskOf)
	case eventContended:
		t.give(contentionOf)
	default:
		t.end(n.lost)
	}
}

// notice takes note of a notice of C; called by the dispatcher. It may be of a hold before the
// last, which the grant of that has ended, or faster than the grant, which a quick call tells.
func (h *handle) notice(kind int64, told event) {
	n := notice{kind, told.number, told.failure}
	if n.lost == nil || n.lost.Status != ErrLost {
		n.lost = h.failure(ErrLost, "the hold was lost")
	}
	h.terms.Lock()
	t := h.term
	if t == nil || t.number != n.number {
		t = nil
		// With the last number it may be of a hold that was acquired once more meanwhile.
		if n.number >= h.number {
			if len(h.early) == mostEarly {
				h.early = h.early[1:]
			}
			h.early = append(h.early, n)
		}
	}
	h.terms.Unlock()
	if t != nil {
		n.tell(t)
	}
}

// extend prolongs the hold that C has; it is an error if that is not the one with this number.
func (h *handle) extend(ctx context.Context, lease time.Duration, number int64) error {
	if lease < 0 {
		return failure(ErrInvalidArgument, "lease: "+lease.String()+" is negative; give 0 or more")
	}
	var extended int64
	c := h.engine.newQuickCall(func(told event) { extended = told.number })
	defer c.done(h.engine)
	err := h.call(ctx, c, func(address, queue uintptr, tag int64, details uintptr) int32 {
		return h.kind.extend(address, queue, tag, milliseconds(lease), details)
	})
	if err == nil && extended != number {
		return h.lost()
	}
	return err
}

// progress reports it for the hold that C has; it is an error if that is not the one with this
// number.
func (h *handle) progress(number int64) error {
	address, err := h.enter()
	if err != nil {
		return err
	}
	defer h.leave()
	h.expectRisk(number) // before C may report it
	err = checked(func(details uintptr) int32 { return h.kind.progress(address, details) })
	if err == nil && h.kind.number(address) != number {
		return h.lost()
	}
	return err
}

// setValue changes the value of the hold that C has; it is an error if that is not the one with
// this number.
func (h *handle) setValue(ctx context.Context, value string, number int64) error {
	if h.kind.setValue == nil {
		return failure(ErrUnsupported, "a multi has no value; set those of its members")
	}
	var changed int64
	c := h.engine.newQuickCall(func(told event) { changed = told.number })
	defer c.done(h.engine)
	err := h.call(ctx, c, func(address, queue uintptr, tag int64, details uintptr) int32 {
		return h.kind.setValue(address, queue, tag, value, details)
	})
	if err == nil && changed != number {
		return h.lost()
	}
	return err
}

// expectRisk is for the hold with this number, and for its parts.
func (h *handle) expectRisk(number int64) {
	h.terms.Lock()
	defer h.terms.Unlock()
	if h.term == nil || h.term.number != number {
		return
	}
	h.term.progresses()
	for _, member := range h.members {
		member.terms.Lock()
		if member.term != nil && member.term.isPartOf(h.term) {
			member.term.progresses()
		}
		member.terms.Unlock()
	}
}

func (h *handle) query(ctx context.Context) (*Info, error) {
	var info *Info
	err := h.blocking(ctx, func(address, details uintptr) int32 {
		object := swig.Info_new()
		if object == 0 {
			return int32(ErrNoMemory)
		}
		defer swig.Info_free(object)
		status := h.kind.query(address, object, details)
		if status == 0 {
			info = readInfo(object)
		}
		return status
	})
	if err != nil {
		return nil, err
	}
	return info, nil
}

// blocking makes a call of C that answers when the server has.
func (h *handle) blocking(ctx context.Context, work func(address, details uintptr) int32) error {
	if h == nil {
		_, err := h.enter()
		return err
	}
	if err := h.engine.takeSlot(ctx); err != nil {
		return err
	}
	return h.inSlot(ctx, work)
}

// inSlot is the same with a slot that it gives back.
func (h *handle) inSlot(ctx context.Context, work func(address, details uintptr) int32) error {
	return h.engine.inSlot(ctx, func() error {
		address, err := h.enter()
		if err != nil {
			return err
		}
		defer h.leave()
		return checked(func(details uintptr) int32 { return work(address, details) })
	})
}
