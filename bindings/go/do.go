package mortise

import "context"

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
	if acquire == nil || work == nil {
		return failure(ErrInvalidArgument, "acquire, work: nil; give functions")
	}
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
