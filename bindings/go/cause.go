//go:build go1.20

package mortise

import "context"

// withCause is a child of a context that tells why it ended, by context.Cause.
func withCause(parent context.Context) (context.Context, func(cause error)) {
	return context.WithCancelCause(parent)
}

// causeOf is why a context ended.
func causeOf(ctx context.Context) error { return context.Cause(ctx) }
