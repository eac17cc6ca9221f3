//go:build !go1.20

package mortise

import "context"

// withCause is a child of a context; there is no context.Cause yet.
func withCause(parent context.Context) (context.Context, func(cause error)) {
	ctx, cancel := context.WithCancel(parent)
	return ctx, func(error) { cancel() }
}

// causeOf is how a context ended.
func causeOf(ctx context.Context) error { return ctx.Err() }
