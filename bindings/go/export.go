package mortise

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

// Export ends the hold here without a release. It lasts for this lease at the server, and no client
// renews it. Another handle, process or host continues it by the id: see Lock.Adopt. A lease of 0
// is the lease of the handle. If the hold was adopted, its id stays the same. The context bounds
// the wait for other calls, and the command timeout bounds the wait for the reply. If Err is nil
// after a failed Export, the hold continues. Otherwise its lease ends it. A Multi has no id: export
// the holds of its members.
func (h *Hold) Export(ctx context.Context, lease time.Duration) (string, error) {
	if err := h.over(); err != nil {
		return "", h.core().told(ctx, err)
	}
	defer runtime.KeepAlive(h)
	id, err := h.core().export(ctx, lease, h)
	if err == nil || h.over() != nil {
		h.report.unlock(err)
	}
	return id, h.core().told(ctx, err)
}

// Adopt continues an exported hold with this handle, which renews it from now on. Of several
// adopters one succeeds, and the others get ErrNotOwner, as after the end of the hold. The hold has
// a higher fencing token. After another failure, also by the end of the context, the id may still
// be valid.
func (l *Lock) Adopt(ctx context.Context, id string) (*Hold, error) {
	return l.own().adopt(ctx, id, held)
}

// Adopt continues an exported hold with this handle, which then reads or writes as its exporter
// did. See Lock.Adopt.
func (r *RW) Adopt(ctx context.Context, id string) (*Hold, error) {
	how := reading
	if isExclusive(id) {
		how = writing
	}
	return r.own().adopt(ctx, id, how)
}

// Adopt continues an exported hold of permits with this handle. See Lock.Adopt.
func (s *Semaphore) Adopt(ctx context.Context, id string) (*Hold, error) {
	return s.own().adopt(ctx, id, permitted)
}

// isExclusive tells whether the id is of a writer. Adopt reports what is wrong with a wrong id.
func isExclusive(id string) bool {
	read, err := made(func(details uintptr) uintptr { return swig.Hold_id_new(id, details) })
	if err != nil {
		return false
	}
	defer swig.Hold_id_free(read)
	return swig.Hold_id_is_exclusive(read) != 0
}

func (o *owner) adopt(ctx context.Context, id string, how *mode) (*Hold, error) {
	if err := alive(ctx); err != nil {
		return nil, o.core().told(ctx, err)
	}
	defer runtime.KeepAlive(o)
	report := o.core().beginWait(ctx, o, how)
	hold, err := o.adoptUnreported(ctx, id, how)
	if err != nil {
		err = o.core().told(ctx, err)
		report.fail(err)
		return nil, err
	}
	report.grant(hold)
	return hold, nil
}

func (o *owner) adoptUnreported(ctx context.Context, id string, how *mode) (*Hold, error) {
	h := o.core()
	if err := h.beginAcquire(ctx); err != nil {
		return nil, err
	}
	defer h.endAcquire()
	hold := &Hold{owner: o}
	hold.mode.Store(how)
	if err := h.engine.takeSlot(ctx); err != nil {
		return nil, err
	}
	isOver, cancelled := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(cancelled)
		h.cancelAtEnd(ctx, isOver)
	}()
	// Not bounded by the context: a hold that C has adopted must have a Hold.
	err := h.inSlot(context.Background(), func(address, details uintptr) int32 {
		status := h.kind.adopt(address, id, details)
		if status == 0 {
			hold.term = h.grant(h.kind.token(address), h.kind.number(address))
		}
		return status
	})
	close(isOver)
	<-cancelled // so that it does not cancel the next acquire
	if errors.Is(err, ErrCancelled) && ctx.Err() != nil {
		return nil, ended(ctx, "the context ended before the reply")
	}
	if err != nil {
		return nil, err
	}
	if over := hold.term.reason(); over != nil && over.Status == ErrClosed {
		return nil, over
	}
	return hold, nil
}

// cancelAtEnd cancels a call of C that waits. The call may not have begun to wait.
func (h *handle) cancelAtEnd(ctx context.Context, isOver <-chan struct{}) {
	pause := time.Duration(0)
	select {
	case <-ctx.Done():
	case <-isOver:
		return
	}
	for {
		select {
		case <-time.After(pause):
		case <-isOver:
			return
		}
		if address, err := h.enter(); err == nil {
			h.kind.cancel(address, 0)
			h.leave()
		}
		pause = 10 * time.Millisecond
	}
}

func (h *handle) export(ctx context.Context, lease time.Duration, hold *Hold) (string, error) {
	if lease < 0 {
		return "", failure(ErrInvalidArgument, "lease: "+lease.String()+" is negative; give 0 or more")
	}
	if h.kind.export == nil {
		return "", failure(ErrUnsupported, "a Multi and a leadership have no id; export a single lock")
	}
	if err := h.engine.takeSlot(ctx); err != nil {
		return "", err
	}
	var id string
	isLast, isOver := true, false
	// Not bounded by the context: C ends the hold before the server replies.
	err := h.inSlot(context.Background(), func(address, details uintptr) int32 {
		if isLast = h.kind.number(address) == hold.term.number; !isLast {
			return 0
		}
		object := h.kind.export(address, milliseconds(lease), details)
		isOver = h.kind.deadline(address) == 0 // a hold that awaits replicas is not over
		status := int32(0)
		if object == 0 {
			status = swig.Error_status(details)
		}
		if isOver && !isBeforeExport(Status(status)) {
			h.exported(hold)
		}
		if object == 0 {
			return status
		}
		defer swig.Hold_id_free(object)
		id = swig.Text(swig.Hold_id_text(object))
		return 0
	})
	if err == nil && !isLast {
		err = hold.over()
	}
	var lost *Error
	if isOver && errors.As(err, &lost) && lost.Status == ErrLost {
		hold.term.end(lost)
	}
	return id, err
}

// isBeforeExport reports whether an export that failed with this status has not ended the hold. If
// the hold is over nevertheless, it was lost, and C still expects its unlock.
func isBeforeExport(status Status) bool {
	return status == ErrLost || status == ErrInvalidArgument || status == ErrUnsupported
}

// exported ends a hold that C no longer has.
func (h *handle) exported(hold *Hold) {
	h.terms.Lock()
	defer h.terms.Unlock()
	reason := h.failure(ErrNotOwner, "this hold was exported")
	if hold.unlocked.Load() == nil {
		hold.unlocked.Store(reason)
	}
	if h.term == hold.term {
		h.forget(hold.term, reason)
	}
}
