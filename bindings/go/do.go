package mortise

import (
	"context"
	"errors"
)

// Do acquires, works and unlocks, also when the work panics. The work's context is cancelled with
// the given one, and when the hold is lost. Give it the method that acquires, such as lock.Acquire:
//
//	err := mortise.Do(ctx, lock.Acquire, func(ctx context.Context, hold *mortise.Hold) error {
//		return write(ctx, hold.Token())
//	})
//
// or, where more is to be said, a function that calls it:
//
//	two := func(ctx context.Context) (*mortise.Hold, error) { return semaphore.Acquire(ctx, 2) }
//
// The unlock is not under the given context, which may have ended the work: it has one of its own,
// and waits for the server's answer for the client's command timeout at most.
//
// The error is that of acquiring, else that of the work, else that of unlocking. It is ErrLost,
// beside what the work returned, when the hold was lost before the end of the work, which may then
// not have been alone. An unlock of which the server did not tell the outcome is no error: the work
// was alone, and what may be left of the hold ends with its lease.
func Do(ctx context.Context, acquire func(context.Context) (*Hold, error),
	work func(ctx context.Context, hold *Hold) error) (err error) {
	if acquire == nil || work == nil {
		return failure(ErrInvalidArgument, "acquire, work: nil; give functions")
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
