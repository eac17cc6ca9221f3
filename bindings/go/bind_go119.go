//go:build !go1.21

package mortise

import "context"

// endsWith is a child of a context that ends also when another ends, for the same cause. Its goroutine
// ends with it.
func endsWith(other, parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := withCause(parent)
	go func() {
		select {
		case <-other.Done():
			cancel(causeOf(other))
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// tidied has nothing to do.
func tidied(_ context.Context, end context.CancelFunc) context.CancelFunc { return end }
