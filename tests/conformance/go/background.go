package main

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/mortise/mortise-go"
)

// observed is a context that reports when a call first waits on it. From then on a call in the
// background has begun, and another call on its handle comes second.
type observed struct {
	context.Context
	once  *sync.Once
	begun chan struct{}
}

func (o observed) Done() <-chan struct{} {
	o.once.Do(func() { close(o.begun) })
	return o.Context.Done()
}

// withTimeout bounds a context. An observed one stays observed.
func withTimeout(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if outer, is := ctx.(observed); is {
		inner, cancel := context.WithTimeout(outer.Context, timeout)
		outer.Context = inner
		return outer, cancel
	}
	return context.WithTimeout(ctx, timeout)
}

// tasks has a context for each task of this process.
var tasks = map[int64]context.Context{0: context.Background()}

// setTask makes later calls those of a task.
func (h *handle) setTask(task int64) {
	if tasks[task] == nil {
		tasks[task] = mortise.WithTask(context.Background())
	}
	h.task = task
}

func (h *handle) context() context.Context { return tasks[h.task] }

// start makes a call in the background, and returns when one that acquires has begun.
func (h *handle) start(id, method string, given arguments) {
	inner, cancel := context.WithCancel(h.context())
	ctx := observed{inner, new(sync.Once), make(chan struct{})}
	h.mutex.Lock()
	h.cancel = cancel
	h.mutex.Unlock()
	ended := make(chan struct{})
	go func() {
		came := h.call(ctx, method, given)
		h.mutex.Lock()
		h.cancel = nil
		h.mutex.Unlock()
		cancel()
		close(ended)
		report("done %s %s", id, came)
	}()
	if !strings.HasSuffix(method, "acquire") && !strings.HasSuffix(method, "try") {
		return
	}
	select {
	case <-ctx.begun:
	case <-ended:
	}
}
