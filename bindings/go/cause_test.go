//go:build go1.20

package mortise

import (
	"context"
	"testing"
)

func TestCauseOfTheEnd(t *testing.T) {
	client := startServer(t).open(t)
	lost, err := client.brief(t, "a").Acquire(within(t))
	must(t, err)
	bound, cancel := lost.Bind(within(t))
	defer cancel()
	receive(t, "the loss ends what is bound", bound.Done())
	expect(t, context.Cause(bound), ErrLost)
	expect(t, context.Cause(lost.Context()), ErrLost)

	unlocked, err := client.lock(t, "b").Acquire(within(t))
	must(t, err)
	ctx := unlocked.Context()
	must(t, unlocked.Unlock(within(t)))
	expect(t, context.Cause(ctx), ErrNotOwner)
	expect(t, ctx.Err(), context.Canceled)
}
