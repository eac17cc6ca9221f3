package mortise

import (
	"context"
	"runtime"
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

// Leader is the leader of an election, as a server has it.
type Leader struct {
	// Owner is the owner token of the leadership. Each leadership has its own.
	Owner string
	// Value is what the leader has set with Hold.SetValue or WithValue.
	Value string
	// Label is the label of its handle. Host and PID identify its process, and are empty and 0 when
	// unknown.
	Label, Host string
	PID         int64
	// IsMine reports whether the handle that asked is the leader.
	IsMine bool
}

func leaderIn(info *Info) *Leader {
	if len(info.Holders) == 0 || info.Holders[0].IsRetained {
		return nil
	}
	first := info.Holders[0]
	return &Leader{
		Owner: first.Owner, Value: first.Value, Label: first.Label, Host: first.Host, PID: first.PID,
		IsMine: info.IsMine,
	}
}

// leader is that of the event that was taken last.
func (r *reader) leader() *Leader {
	info := swig.Info_new()
	defer swig.Info_free(info)
	if swig.Event_leader(r.event, info, 0) != 0 {
		return nil
	}
	return leaderIn(readInfo(info))
}

// observation is where the leaders of an election go; guarded by the engine's mutex.
type observation struct {
	tag     int64
	leaders chan *Leader  // of one place, which has the newest
	over    chan struct{} // closed when another one has replaced it, or the handle was closed
}

// observe begins an observation, which keeps the owner from being collected.
func (h *handle) observe(ctx context.Context, kept *owner, interval time.Duration) (
	<-chan *Leader, error) {
	if err := alive(ctx); err != nil {
		return nil, err
	}
	if interval < 0 {
		return nil, failure(ErrInvalidArgument,
			"interval: "+interval.String()+" is negative; give 0 or more")
	}
	address, err := h.enter()
	if err != nil {
		return nil, err
	}
	defer h.leave()
	queue, err := h.engine.enter()
	if err != nil {
		return nil, err
	}
	defer h.engine.queue.leave()
	o := &observation{leaders: make(chan *Leader, 1), over: make(chan struct{})}
	if err := h.engine.beginObservation(h, o, func(tag int64, details uintptr) int32 {
		return swig.Election_observe(address, queue, tag, milliseconds(interval), details)
	}); err != nil {
		return nil, err
	}
	go func() {
		defer runtime.KeepAlive(kept)
		select {
		case <-ctx.Done():
		case <-o.over:
		case <-h.engine.isDrained:
		}
		h.engine.endObservation(h, o)
	}()
	return o.leaders, nil
}

// beginObservation replaces the one of the handle. Nothing that C does waits for the dispatcher.
func (e *engine) beginObservation(
	h *handle, o *observation, begin func(tag int64, details uintptr) int32,
) error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if h.native.hasClosed() { // otherwise nothing would end the observation
		return handleClosed()
	}
	e.lastTag++
	o.tag = e.lastTag
	err := checked(func(details uintptr) int32 { return begin(o.tag, details) })
	if err != nil {
		return e.translate(err.(*Error))
	}
	if h.observation != nil {
		close(h.observation.over)
	}
	h.observation = o
	e.observations[o.tag] = o
	return nil
}

// endObservation ends one, in C unless another has replaced it.
func (e *engine) endObservation(h *handle, o *observation) {
	address, err := h.enter()
	if err == nil {
		defer h.leave()
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	delete(e.observations, o.tag)
	if h.observation == o {
		h.observation = nil
		if err == nil {
			swig.Election_observe(address, 0, 0, 0, 0)
		}
	}
	close(o.leaders) // which nothing is sent to any more
}

// overObservation ends the one of a handle that was closed.
func (e *engine) overObservation(h *handle) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if h.observation != nil {
		close(h.observation.over)
		h.observation = nil
	}
}

// observe hands on who leads, in place of what was not read yet. It waits for nobody.
func (e *engine) observe(tag int64, leader *Leader) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	o := e.observations[tag]
	if o == nil {
		return
	}
	select {
	case <-o.leaders:
	default:
	}
	o.leaders <- leader
}
