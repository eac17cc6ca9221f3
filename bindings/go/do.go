package mortise

import (
	"context"
	"errors"
)

// Do acquires a lock, runs the work and unlocks, even if the work panics. The work's context is
// canceled with the given context and when the hold is lost. The acquire function is a method such
// as lock.Acquire:
//
//	err := mortise.Do(ctx, lock.Acquire, func(ctx context.Context, hold *mortise.Hold) error {
//		return write(ctx, hold.Token())
//	})
//
// An acquire with more arguments needs a function of its own:
//
//	two := func(ctx context.Context) (*mortise.Hold, error) { return semaphore.Acquire(ctx, 2) }
//
// The unlock does not depend on the given context, which may have ended the work. It waits for the
// server's reply for the client's command timeout at most.
//
// Do returns the first error of the acquire, the work and the unlock, in this order. When the hold
// was lost before the end of the work, the error is ErrLost and also the work's own error. Another
// client may then have held the lock during the work. An unlock with an unknown outcome is not an
// error. The work was protected, and the lease ends what remains of the hold.
func Do(ctx context.Context, acquire func(context.Context) (*Hold, error),
	work func(ctx context.Context, hold *Hold) error) (err error) {
	if acquire == nil || work == nil {
		return failure(ErrInvalidArgument, "acquire, work: is nil; give functions")
	}
	hold, err := acquire(ctx)
	if err != nil {
		return err
	}
	defer func() {
		// The answer says whether the work was alone; C bounds the wait for it.
		unlocked := hold.Unlock(context.Background())
		switch {
		case errors.Is(err, ErrLost) || errors.Is(unlocked, ErrNotOwner): // the work knows, or did it
		case errors.Is(unlocked, ErrUnknown) || errors.Is(unlocked, ErrUnreachable):
		case err == nil:
			err = unlocked
		case errors.Is(unlocked, ErrLost):
			err = &Error{Status: ErrLost, Message: "the hold was lost before the work ended: " + err.Error(),
				causes: []error{err}}
		}
	}()
	bound, cancel := hold.during().bounds(ctx)
	defer cancel()
	return work(hold.keptBy(bound), hold)
}
