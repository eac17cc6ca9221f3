package mortise

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/mortise/mortise-go/internal/swig"
)

const (
	// blockingCalls is how many calls at once may keep an operating system thread.
	blockingCalls = 8
	// quickCalls is how many more may do so for one quick answer.
	quickCalls = 4
)

// engine is what a Client and all its handles share: the client of C, and a queue in which all
// calls that wait for the server end. It does not know the objects that the user has, so that these
// can be collected.
type engine struct {
	client, queue native
	slots         chan struct{}
	quick         chan *reader // those that are free, of quickCalls
	isClosing     atomic.Bool
	isDrained     chan struct{}
	contention    *contention
	listener      Listener // nil without one

	mutex   sync.Mutex
	lastTag int64
	calls   map[int64]*call
	handles map[int64]*handle // by the tag of their watch
	// Of observed elections, by their tag.
	observations map[int64]*observation
	log          *reports // nil where nobody wants it
	stats        *reports
}

func newEngine(url string, options []Option) (*engine, error) {
	if err := checkLibrary(); err != nil {
		return nil, err
	}
	e := &engine{
		slots:     make(chan struct{}, blockingCalls),
		quick:     make(chan *reader, quickCalls),
		isDrained: make(chan struct{}),
		calls:     make(map[int64]*call),
		handles:   make(map[int64]*handle),

		observations: make(map[int64]*observation),

		contention: newContention(),
		listener:   listenerOf(options),
	}
	e.client.free = swig.Client_free
	e.queue.free = swig.Queue_free
	plain := func(uintptr) uintptr { return swig.Options_new() }
	err := withOptions(options, plain, func(options uintptr) (err error) {
		e.client.address, err = made(func(details uintptr) uintptr {
			return swig.Client_new(url, options, details)
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	e.queue.address, err = made(func(details uintptr) uintptr {
		return swig.Queue_new(e.client.address, queueCapacity, details)
	})
	if err != nil {
		e.client.close(nil)
		return nil, err
	}
	err = e.startDispatcher()
	for i := 0; err == nil && i < quickCalls; i++ {
		var quick *reader // its queue is made when it is needed
		if quick, err = newReader(e, 0, 1); err == nil {
			e.quick <- quick
		}
	}
	if err != nil {
		e.queue.close(nil)
		e.client.close(nil)
		return nil, err
	}
	return e, nil
}

// close ends everything: waiting calls end with ErrClosed, holds are given back.
func (e *engine) close() error {
	queue, err := e.queue.enter()
	if err != nil {
		return nil // closed before
	}
	defer e.queue.leave()
	if swig.Queue_fd(queue) < 0 {
		return failure(ErrForked, "the client was opened before a fork; open a new one")
	}
	if e.isClosing.Swap(true) {
		<-e.isDrained
		return nil
	}
	e.dropHolds() // whoever works under one stops before it is given back
	e.client.close(nil)
	if e.client.isInUse() {
		// A Ping keeps it until its command timeout. Nothing else is to wait for that.
		for _, h := range e.allHandles() {
			h.native.close(nil)
		}
	}
	// Ends what still waits, and the dispatcher when all calls have ended.
	swig.Queue_shutdown(queue)
	<-e.isDrained
	for i := 0; i < quickCalls; i++ {
		quick := <-e.quick
		swig.Queue_free(quick.queue)
		quick.free()
	}
	e.queue.close(nil)
	e.dropHolds() // those that were granted meanwhile
	return nil
}

func (e *engine) allHandles() []*handle {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	handles := make([]*handle, 0, len(e.handles))
	for _, h := range e.handles {
		handles = append(handles, h)
	}
	return handles
}

func (e *engine) dropHolds() {
	for _, h := range e.allHandles() {
		h.dropTerm(clientClosed())
	}
}

// enter is the queue, to be used until its leave; closed as soon as the closing has begun.
func (e *engine) enter() (uintptr, error) {
	if e.isClosing.Load() {
		return 0, clientClosed()
	}
	return e.queue.enter()
}

// start hands a call to C. When that fails, the call never began and will not end.
func (e *engine) start(
	c *call, submit func(queue uintptr, tag int64, details uintptr) int32,
) error {
	queue, err := e.enter()
	if err != nil {
		return err
	}
	defer e.queue.leave()
	e.mutex.Lock()
	e.lastTag++
	c.tag = e.lastTag
	if c.quick == nil {
		e.calls[c.tag] = c
	} else {
		queue = c.quick.queue
	}
	e.mutex.Unlock()
	err = checked(func(details uintptr) int32 { return submit(queue, c.tag, details) })
	if err != nil {
		e.take(c.tag)
		return e.translate(err.(*Error))
	}
	return nil
}

func (e *engine) take(tag int64) *call {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	c := e.calls[tag]
	delete(e.calls, tag)
	return c
}

// watch has the losses of a handle told to it.
func (e *engine) watch(h *handle) error {
	queue, err := e.enter()
	if err != nil {
		return err
	}
	defer e.queue.leave()
	e.mutex.Lock()
	e.lastTag++
	h.tag = e.lastTag
	e.handles[h.tag] = h
	e.mutex.Unlock()
	if h.kind.watch == nil {
		return nil
	}
	err = checked(func(details uintptr) int32 {
		return h.kind.watch(h.address, queue, h.tag, details)
	})
	if err != nil {
		e.unwatch(h)
		return e.translate(err.(*Error))
	}
	return nil
}

func (e *engine) unwatch(h *handle) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	delete(e.handles, h.tag)
}

// translate has the end of the queue, of which users know nothing, be the end of the client, in
// words of Go.
func (e *engine) translate(err *Error) *Error {
	isEnd := err.Status == ErrClosed || err.Status == ErrCancelled
	if err.Status == ErrShutDown || isEnd && e.isClosing.Load() {
		return clientClosed()
	}
	return err
}

// blocking runs a call that keeps a thread until the server has answered. There are few at once;
// the context ends the wait for one, not the call.
func (e *engine) blocking(ctx context.Context, work func() error) error {
	if err := e.takeSlot(ctx); err != nil {
		return err
	}
	return e.inSlot(ctx, work)
}

// takeSlot waits until few enough calls keep a thread. The slot is for inSlot.
func (e *engine) takeSlot(ctx context.Context) error {
	if err := alive(ctx); err != nil {
		return err
	}
	select {
	case e.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ended(ctx, "too many calls were in progress")
	}
}

// inSlot runs a call in the slot that was taken for it, and gives the slot back.
func (e *engine) inSlot(ctx context.Context, work func() error) error {
	result := make(chan error, 1)
	go func() {
		defer func() { <-e.slots }()
		result <- work()
	}()
	select {
	case err := <-result:
		if err != nil && e.isClosing.Load() {
			return clientClosed()
		}
		return err
	case <-ctx.Done():
		return ended(ctx, "the context ended before the reply")
	}
}
