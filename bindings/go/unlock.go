package mortise

import (
	"context"
	"errors"
)

// unlock ends a hold. The lock is given back whatever the context says.
func (h *handle) unlock(ctx context.Context, hold *Hold) error {
	if h == nil {
		return noHold()
	}
	h.terms.Lock()
	if raising := h.raising; raising != nil {
		h.terms.Unlock()
		return h.unlockAfter(ctx, raising, hold)
	}
	c := h.engine.newQuickCall(nil)
	err := h.release(hold, c)
	h.terms.Unlock()
	if err != nil {
		c.done(h.engine)
		return err
	}
	told, hasEnded := c.await(ctx)
	if !hasEnded {
		h.detach(func() {
			c.await(context.Background())
			c.done(h.engine)
		})
		return ended(ctx, "the context ended before the reply")
	}
	c.done(h.engine)
	return told.err()
}

// unlockAfter is for an upgrade whose context has ended: what there is to unlock is known with its
// answer, for which C waits for the command timeout at most.
func (h *handle) unlockAfter(ctx context.Context, raising <-chan struct{}, hold *Hold) error {
	unlocked := make(chan error, 1)
	h.detach(func() {
		<-raising
		unlocked <- h.unlock(context.Background(), hold)
	})
	select {
	case err := <-unlocked:
		return err
	case <-ctx.Done():
		return ended(ctx, "the context ended before the reply")
	}
}

// detach has an unlock come to its end without the caller. Who acquires next has to wait for that,
// as C takes one call at a time.
func (h *handle) detach(work func()) {
	departed := make(chan struct{})
	h.setDeparting(departed)
	for _, member := range h.members {
		member.setDeparting(departed)
	}
	go func() {
		defer close(departed)
		work()
	}()
}

func (h *handle) setDeparting(departed chan struct{}) {
	h.terms.Lock()
	defer h.terms.Unlock()
	h.departing = departed
}

// hasDeparted waits for an unlock that nobody waited for, its own or that of a member.
func (h *handle) hasDeparted(ctx context.Context) error {
	h.terms.Lock()
	departing := h.departing
	h.terms.Unlock()
	if departing != nil {
		select {
		case <-departing:
		case <-ctx.Done():
			return ended(ctx, "the previous unlock has no reply yet")
		}
	}
	for _, member := range h.members {
		if err := member.hasDeparted(ctx); err != nil {
			return err
		}
	}
	return nil
}

// release ends a hold and then hands its unlock to C; guarded by the terms' mutex. C ends no other
// hold than that with the number.
func (h *handle) release(hold *Hold, c *call) error {
	isFirst := hold.unlocked.Load() == nil
	if !isFirst && !hold.isKept {
		return failure(ErrNotOwner, "this hold was unlocked before")
	}
	over := hold.term.reason()
	if isFirst {
		reason := over
		if reason == nil {
			reason = h.failure(ErrNotOwner, "this hold was unlocked")
		}
		hold.unlocked.Store(reason)
		// Before C knows: from then on another may hold, while work goes on under the contexts.
		if h.term == hold.term {
			h.forget(hold.term, reason)
		}
	}
	unlock := hold.mode.Load().unlock
	err := h.start(c, func(address, queue uintptr, tag int64, details uintptr) int32 {
		return unlock(address, queue, tag, hold.term.number, details)
	})
	hold.isKept = errors.Is(err, ErrBusy) || errors.Is(err, ErrLimit) || errors.Is(err, ErrNoMemory)
	if errors.Is(err, ErrLost) {
		if over != nil && over.Status == ErrLost {
			return over // C may not know any more why
		}
		errors.As(err, &over)
		hold.unlocked.Store(over)
		hold.term.end(over)
	}
	return err
}
