package mortise

import (
	"context"
	"sync/atomic"
)

type taskKey struct{}

var lastTask int64

// WithTask returns a context for a new task: work that acquires, waits and unlocks one after the
// other, as a goroutine does. A lock that is acquired with this context, or with one derived from
// it, belongs to the task. So WithDeadlockFailure and the command "mortise doctor --deadlocks" find
// the deadlocks of the task. They find none of an acquire whose context has no task.
//
//	func serve(ctx context.Context) error {
//		ctx = mortise.WithTask(ctx)
//		...
//	}
//
// Give each goroutine that acquires locks a task of its own. If two share one, a goroutine that
// waits counts as the holder of what the other holds, and may fail without a deadlock.
func WithTask(ctx context.Context) context.Context {
	return context.WithValue(given(ctx), taskKey{}, atomic.AddInt64(&lastTask, 1))
}

// taskOf is 0 without a task.
func taskOf(ctx context.Context) int64 {
	task, _ := ctx.Value(taskKey{}).(int64)
	return task
}

// setTask is for the goroutine that acquires.
func (h *handle) setTask(task int64) error {
	if task == h.task {
		return nil
	}
	address, err := h.enter()
	if err != nil {
		return err
	}
	defer h.leave()
	err = checked(func(details uintptr) int32 { return h.kind.setTask(address, task, details) })
	if err == nil {
		h.task = task
	}
	return err
}
