package mortise

import (
	"context"
	"errors"
	"time"
)

// acquire makes one of these holds; it tries, and then waits, which is nil if it is not to wait,
// until the context is over. With an error nothing is held.
func (h *handle) acquire(
	ctx context.Context, newHold func() *Hold, try, wait submission,
) (*Hold, error) {
	if c := h.newTrial(try, wait); c != nil {
		hold, err := h.attempt(ctx, c, newHold(), try, forever)
		c.done(h.engine)
		if errors.Is(err, ErrNotAcquired) {
			h.taken()
		}
		if hold != nil || wait == nil {
			return hold, err
		}
		// After a deadline C still has to say what the time was spent on. An interruption may be over.
		if ctx.Err() == context.Canceled || errors.Is(err, ErrCancelled) {
			if errors.Is(err, ErrNotAcquired) { // what counts is that it no longer waits
				err = ended(ctx, "the wait ended; nothing is held")
			}
			return nil, err
		}
	}
	return h.attempt(ctx, newCall(nil), newHold(), wait, timeoutOf(ctx))
}

// newTrial is the call for an attempt that does not wait. Before one that waits, it is worth while
// only when the answer is quick, and when the lock is likely to be free.
func (h *handle) newTrial(try, wait submission) *call {
	if try == nil || wait != nil && h.isTaken() {
		return nil
	}
	c := newCall(nil)
	if h.kind.watch != nil { // the news of a multi's members have to come in the order of its own
		c = h.engine.newQuickCall(nil)
	}
	if c.quick == nil && wait != nil {
		return nil
	}
	return c
}

// attempt is one acquire in C. With an error nothing is held: a hold beside it has been given back.
func (h *handle) attempt(ctx context.Context, c *call, hold *Hold, submit submission,
	timeoutMs int64) (*Hold, error) {
	c.onEnd = func(told event) {
		if told.failure == nil {
			hold.term = h.grant(told.token, told.number)
		}
	}
	err := h.start(c, func(address, queue uintptr, tag int64, details uintptr) int32 {
		return submit(address, queue, tag, timeoutMs, details)
	})
	if err != nil {
		return nil, err
	}
	if told := h.awaitGrant(ctx, c, timeoutMs); told.failure != nil {
		isByClose := ctx.Err() == nil && h.native.hasClosed()
		if told.failure.Status == ErrCancelled && isByClose {
			return nil, failure(ErrClosed, "this "+h.kind.whatItIs+" was closed")
		}
		return nil, told.failure
	}
	if over := hold.term.reason(); over != nil && over.Status == ErrClosed {
		return nil, over
	}
	if ctx.Err() != nil {
		return hold, h.giveBack(ctx, hold)
	}
	return hold, nil
}

func (h *handle) beginAcquire(ctx context.Context) error {
	if h == nil {
		_, err := h.enter()
		return err
	}
	if err := h.hasDeparted(ctx); err != nil {
		return err
	}
	if !h.reserveAcquire() {
		return failure(ErrBusy, "another acquire on this handle is in progress; "+
			"give each goroutine its own handle")
	}
	err := h.setTask(taskOf(ctx))
	if err != nil {
		h.endAcquire()
	}
	return err
}

func (h *handle) reserveAcquire() bool {
	h.terms.Lock()
	defer h.terms.Unlock()
	if h.isAcquiring {
		return false
	}
	h.isAcquiring = true
	return true
}

func (h *handle) endAcquire() {
	h.terms.Lock()
	defer h.terms.Unlock()
	h.isAcquiring = false
}

// awaitGrant waits for the end of an acquire, which comes at once when it is cancelled. C keeps the
// deadline of the context, and knows better what the time was spent on.
func (h *handle) awaitGrant(ctx context.Context, c *call, timeoutMs int64) event {
	told, hasEnded := c.await(ctx)
	if hasEnded {
		return told
	}
	isCancelled := timeoutMs == forever || ctx.Err() != context.DeadlineExceeded
	if isCancelled {
		if address, err := h.enter(); err == nil {
			h.kind.cancel(address, 0)
			h.leave()
		}
	}
	told, _ = c.await(context.Background())
	if told.failure != nil && told.failure.Status == ErrCancelled {
		told.failure = ended(ctx, "the wait ended; nothing is held")
	}
	return told
}

// giveBack is for a grant that has won the race against the end of the context.
func (h *handle) giveBack(ctx context.Context, hold *Hold) error {
	c := newCall(nil)
	h.terms.Lock()
	err := h.release(hold, c)
	h.terms.Unlock()
	if err == nil {
		// For the command timeout at most; then the handle can be used again.
		c.await(context.Background())
	}
	return ended(ctx, "the lock was granted too late and released")
}

// timeoutOf is what is left of a context, for C. A context without a deadline is cancelled instead.
func timeoutOf(ctx context.Context) int64 {
	deadline, has := ctx.Deadline()
	if !has {
		return forever
	}
	const longest = maxMs * time.Millisecond
	left := time.Until(deadline)
	switch {
	case left > longest:
		return forever
	case left <= 0:
		return 1
	}
	return milliseconds(left)
}
