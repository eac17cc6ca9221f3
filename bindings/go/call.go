package mortise

import (
	"context"

	"github.com/mortise/mortise-go/internal/swig"
)

// event is how a call ended; failure is nil when it did what its name says.
type event struct {
	token   int64
	number  int64 // of the hold that it is about
	failure *Error
	line    *LogLine // of a log
	leader  *Leader  // of an observed election; nil if nobody leads
}

func (e event) err() error {
	if e.failure == nil {
		return nil
	}
	return e.failure
}

// call is one that is handed to C. Its end is told by the dispatcher; or, when it has a quick
// queue, it is read from there by the caller itself.
type call struct {
	onEnd func(event) // runs before any later event of the queue is looked at
	ended chan event
	quick *reader
	tag   int64
}

func newCall(onEnd func(event)) *call {
	return &call{onEnd: onEnd, ended: make(chan event, 1)}
}

// newQuickCall is a call that the server answers at once. The caller reads the answer itself, which
// takes half the time of being woken, and keeps a thread. Few can do so at a time: the others have
// usual calls. To be given back by done.
func (e *engine) newQuickCall(onEnd func(event)) *call {
	if quick := e.takeQuick(); quick != nil {
		return &call{onEnd: onEnd, quick: quick}
	}
	return newCall(onEnd)
}

func (e *engine) takeQuick() *reader {
	var quick *reader
	select {
	case quick = <-e.quick:
	default:
		return nil
	}
	if quick.queue != 0 {
		return quick
	}
	client, err := e.client.enter()
	if err == nil {
		quick.queue, err = made(func(details uintptr) uintptr {
			return swig.Queue_new(client, queueCapacity, details)
		})
		e.client.leave()
	}
	if err != nil {
		e.quick <- quick
		return nil
	}
	return quick
}

// done gives back what the call has of the engine.
func (c *call) done(e *engine) {
	if c.quick != nil {
		e.quick <- c.quick
	}
}

func (c *call) end(told event) {
	if c.onEnd != nil {
		c.onEnd(told)
	}
}

// await waits for the end of the call, unless the context is over before.
func (c *call) await(ctx context.Context) (told event, hasEnded bool) {
	if c.quick == nil {
		select {
		case told = <-c.ended:
			return told, true
		case <-ctx.Done():
			return told, false
		}
	}
	const lookMs = 1 // how long the end of the context may go unnoticed
	for {
		_, ever := c.quick.take(lookMs, func(_, tag int64, of event) {
			if tag == c.tag { // else of a call that was not waited for
				told, hasEnded = of, true
			}
		})
		if !ever {
			told, hasEnded = event{failure: clientClosed()}, true
		}
		if hasEnded {
			c.end(told)
			return told, true
		}
		if ctx.Err() != nil {
			return told, false
		}
	}
}

// wait is await for a call that goes on without us when the context is over.
func (c *call) wait(ctx context.Context) error {
	if told, hasEnded := c.await(ctx); hasEnded {
		return told.err()
	}
	return ended(ctx, "the context ended before the reply")
}
