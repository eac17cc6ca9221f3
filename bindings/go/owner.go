package mortise

import (
	"context"
	"runtime"
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

// owner is what a Lock, a RW, a Semaphore and a Multi consist of. They are pointers to pointers so
// that copies of them are the same owner. A nil one, as after a constructor that failed, answers
// with errors.
type owner struct {
	handle  *handle
	client  *Client  // kept from being collected
	members []*owner // likewise
}

func newOwner(client *Client, h *handle) *owner {
	o := &owner{handle: h, client: client}
	runtime.SetFinalizer(o, func(o *owner) { o.handle.close() })
	return o
}

// newNamed makes an owner of a name; the options are laid over those of the client.
func (c *Client) newNamed(k *kind, name string, options []Option,
	create func(client, options, details uintptr) uintptr) (*owner, error) {
	if listenerOf(options) != nil {
		return nil, failure(ErrInvalidArgument, "option: WithListener is for a client; give it to Open")
	}
	h, err := newHandle(c.core(), k, func(client uintptr) (address uintptr, err error) {
		base := func(details uintptr) uintptr { return swig.Options_new_from(client, details) }
		err = withOptions(options, base, func(options uintptr) (err error) {
			address, err = made(func(details uintptr) uintptr { return create(client, options, details) })
			return err
		})
		return address, err
	})
	if err != nil {
		return nil, err
	}
	h.name = name
	h.vain = h.engine.contention.of(name)
	return newOwner(c, h), nil
}

// core is the handle, or nil of an owner that nobody made.
func (o *owner) core() *handle {
	if o == nil {
		return nil
	}
	return o.handle
}

func (o *owner) close() error {
	if o == nil {
		return nil
	}
	runtime.SetFinalizer(o, nil)
	return o.handle.close()
}

// isHeld asks C, by one of its functions, whether it is held.
func (o *owner) isHeld(ask func(address uintptr) int32) bool {
	defer runtime.KeepAlive(o)
	return look(o.core(), ask) != 0
}

func (o *owner) token() int64 {
	if o == nil {
		return 0
	}
	defer runtime.KeepAlive(o)
	return look(o.handle, o.handle.kind.token)
}

// number is that of its last hold, also after its end; 0 when it was closed.
func (o *owner) number() int64 {
	defer runtime.KeepAlive(o)
	return look(o.handle, o.handle.kind.number)
}

func (o *owner) valid() time.Duration {
	if o == nil {
		return 0
	}
	defer runtime.KeepAlive(o)
	return time.Duration(look(o.handle, o.handle.kind.validMs)) * time.Millisecond
}

// deadline has no reading of Go's monotonic clock, which stops while the machine is suspended.
func (o *owner) deadline() time.Time {
	if o == nil {
		return time.Time{}
	}
	defer runtime.KeepAlive(o)
	end := look(o.handle, o.handle.kind.deadline)
	if end == 0 {
		return time.Time{}
	}
	return time.Now().Round(0).Add(time.Duration(end - swig.Boot_now_ns()))
}

func (o *owner) named() string {
	if o == nil {
		return ""
	}
	return o.handle.name
}

func (o *owner) interrupt(isOn bool) error {
	defer runtime.KeepAlive(o)
	h := o.core()
	address, err := h.enter()
	if err != nil {
		return h.named(err)
	}
	defer h.leave()
	return checked(func(details uintptr) int32 {
		return h.kind.interrupt(address, int32(btoi(isOn)), details)
	})
}

func (o *owner) query(ctx context.Context) (*Info, error) {
	defer runtime.KeepAlive(o)
	info, err := o.core().query(ctx)
	return info, o.core().told(ctx, err)
}

func (o *owner) forceRelease(ctx context.Context, holder string) error {
	defer runtime.KeepAlive(o)
	h := o.core()
	return h.told(ctx, h.blocking(ctx, func(address, details uintptr) int32 {
		return h.kind.force(address, holder, details)
	}))
}

// acquire holds something in this mode; it tries, and then waits, which is nil if it is not to
// wait, until the context is over.
func (o *owner) acquire(ctx context.Context, how *mode, try, wait submission) (*Hold, error) {
	if err := alive(ctx); err != nil {
		return nil, o.core().told(ctx, err)
	}
	defer runtime.KeepAlive(o)
	report := o.core().beginWait(ctx, o, how)
	hold, err := o.acquireUnreported(ctx, how, try, wait)
	if err != nil {
		err = o.core().told(ctx, err)
		report.fail(err)
		return nil, err
	}
	report.grant(hold)
	return hold, nil
}

func (o *owner) acquireUnreported(
	ctx context.Context, how *mode, try, wait submission,
) (*Hold, error) {
	h := o.core()
	if err := h.beginAcquire(ctx); err != nil {
		return nil, err
	}
	defer h.endAcquire()
	return h.acquire(ctx, func() *Hold {
		hold := &Hold{owner: o}
		hold.mode.Store(how)
		return hold
	}, try, wait)
}
