//go:build go1.21

package mortise

import "context"

// endsWith is a child of a context that ends also when another ends, for the same cause. The function has
// to be called in the end.
func endsWith(other, parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := withCause(parent)
	leave := context.AfterFunc(other, func() { cancel(causeOf(other)) })
	return ctx, func() {
		leave()
		cancel(nil)
	}
}

// tidied calls what ends a context when that has ended by itself, so that nothing of it is left also when
// nobody else does.
func tidied(ctx context.Context, end context.CancelFunc) context.CancelFunc {
	leave := context.AfterFunc(ctx, end)
	return func() {
		leave()
		end()
	}
}
