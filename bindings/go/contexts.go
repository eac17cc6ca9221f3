package mortise

import (
	"context"
	"time"
)

// alive is the failure of a call whose context is missing or over before it begins.
func alive(ctx context.Context) error {
	if ctx == nil {
		return failure(ErrInvalidArgument, "ctx: is nil; give context.Background()")
	}
	if ctx.Err() != nil {
		return ended(ctx, "the context ended before the call")
	}
	return nil
}

// given is a context for what needs none: it bounds a wait, and without one there is no bound.
func given(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// ended says how a context is over.
func ended(ctx context.Context, message string) *Error {
	if ctx.Err() == context.DeadlineExceeded {
		return failure(ErrTimedOut, message)
	}
	return failure(ErrCancelled, message)
}

// under makes the failure of a call whose context is over also what ended that, whatever else it
// says.
func under(ctx context.Context, err error) error {
	failed, _ := err.(*Error)
	if failed == nil || ctx == nil || !isOver(ctx) {
		return err
	}
	both := *failed // it may be the reason of a hold's end, which others have, too
	both.causes = append([]error{ctx.Err(), causeOf(ctx)}, failed.causes...)
	return &both
}

// isOver also tells of a deadline that C was faster to notice than the context's own timer, which
// is about to.
func isOver(ctx context.Context) bool {
	deadline, has := ctx.Deadline()
	if ctx.Err() == nil && has && !time.Now().Before(deadline) {
		select {
		case <-ctx.Done():
		case <-time.After(time.Second): // of a context that does not keep its word
		}
	}
	return ctx.Err() != nil
}
