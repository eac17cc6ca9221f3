package mortise

import (
	"context"
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

// Multi is a set of locks that are acquired all or none. Every process acquires them in the same
// order, so two sets with common names cannot deadlock. Its Hold is lost with the first lost
// member, and over with ErrClosed when a member is closed. Each member has its own fencing token;
// see Lock.Token.
type Multi struct{ owner *owner }

var multiKind = &kind{
	whatItIs:  "multi",
	free:      swig.Multi_free,
	cancel:    swig.Multi_cancel,
	interrupt: swig.Multi_interrupt,
	progress:  swig.Multi_progress,
	validMs:   swig.Multi_valid_ms,
	deadline:  swig.Multi_deadline_ns,
	number:    swig.Multi_hold_number,
	extend:    swig.Multi_extend_async,
	setTask:   swig.Multi_set_task,
}

var allHeld = &mode{swig.Multi_unlock_hold_async, swig.Multi_is_held, KindMulti}

// Member is a member of a Multi: a *Lock, RW.ForRead, RW.ForWrite or Semaphore.ForPermits.
type Member interface{ asMember() member }

type member struct {
	owner *owner
	add   func(multi, member, details uintptr) int32
}

func (m member) asMember() member { return m }

func (l *Lock) asMember() member { return member{l.own(), swig.Multi_add_lock} }

// ForRead makes the lock a member of a Multi that is acquired for reading.
func (r *RW) ForRead() Member { return member{r.own(), swig.Multi_add_reader} }

// ForWrite makes the lock a member of a Multi that is acquired for writing.
func (r *RW) ForWrite() Member { return member{r.own(), swig.Multi_add_writer} }

// ForPermits makes this number of permits a member of a Multi.
func (s *Semaphore) ForPermits(permits int64) Member {
	return member{s.own(), func(multi, member, details uintptr) int32 {
		return swig.Multi_add_semaphore(multi, member, permits, details)
	}}
}

// NewMulti makes a set of at most 64 handles of this client, each name once. Each handle can still
// be used on its own. Example: client.NewMulti(a, b.ForRead(), s.ForPermits(2)).
func (c *Client) NewMulti(members ...Member) (*Multi, error) {
	h, err := newHandle(c.core(), multiKind, func(client uintptr) (uintptr, error) {
		return made(func(details uintptr) uintptr { return swig.Multi_new(client, details) })
	})
	if err != nil {
		return nil, err
	}
	all := newOwner(c, h)
	for _, member := range members {
		if err := all.add(member); err != nil {
			h.close()
			return nil, err
		}
	}
	return &Multi{all}, nil
}

func (o *owner) add(given Member) error {
	if given == nil {
		return failure(ErrInvalidArgument, "member: is nil; give a Lock, ForRead, ForWrite or ForPermits")
	}
	multi, err := o.handle.enter()
	if err != nil {
		return err
	}
	defer o.handle.leave()
	member := given.asMember()
	h := member.owner.core()
	address, err := h.enter()
	if err != nil {
		return err
	}
	defer h.leave()
	err = checked(func(details uintptr) int32 {
		return member.add(multi, address, details)
	})
	if err != nil {
		return err
	}
	o.members = append(o.members, member.owner)
	o.handle.members = append(o.handle.members, h)
	return nil
}

func (m *Multi) own() *owner {
	if m == nil {
		return nil
	}
	return m.owner
}

// Acquire waits until all members are held or the context is over. On failure it holds no member.
func (m *Multi) Acquire(ctx context.Context) (*Hold, error) {
	return m.own().acquire(ctx, allHeld, nil, swig.Multi_acquire_async)
}

// Try acquires all members if all are free. Otherwise it returns ErrNotAcquired, and the message
// names a member that was not free.
func (m *Multi) Try(ctx context.Context) (*Hold, error) {
	return m.own().acquire(ctx, allHeld, trying(swig.Multi_try_async), nil)
}

// Deadline returns when the hold ends unless it is renewed before, by the wall clock. It is the
// zero time if nothing is held. A step of the wall clock moves it, so use IsHeld to decide whether
// to act.
func (m *Multi) Deadline() time.Time { return m.own().deadline() }

// Interrupt ends this handle's waiting acquire with ErrCancelled. New acquires also fail with
// ErrCancelled until Interrupt is called with false. A hold is not affected. A context suffices for
// most programs.
func (m *Multi) Interrupt(isOn bool) error { return m.own().interrupt(isOn) }

// Close releases the hold, and ends a waiting call with ErrClosed. The members stay open.
func (m *Multi) Close() error { return m.own().close() }

// IsHeld reports whether all members are held by the local clock. It sends no request.
func (m *Multi) IsHeld() bool { return m.own().isHeld(swig.Multi_is_held) }

// Valid returns the shortest remaining validity of all members, or 0 if nothing is held.
func (m *Multi) Valid() time.Duration { return m.own().valid() }

// MemberCount returns the number of members.
func (m *Multi) MemberCount() int { return int(look(m.own().core(), swig.Multi_member_count)) }
