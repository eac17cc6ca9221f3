//go:build go1.21

package mortise

import "context"

// endsWith is a child of a context that ends also when another ends, for the same cause. Nothing of it
// stays at either once it has ended.
func endsWith(other, parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := withCause(parent)
	leaveOther := context.AfterFunc(other, func() { cancel(causeOf(other)) })
	leaveBoth := context.AfterFunc(ctx, func() { leaveOther() })
	return ctx, func() {
		leaveBoth()
		leaveOther()
		cancel(nil)
	}
}
