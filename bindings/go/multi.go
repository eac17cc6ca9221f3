package mortise

import (
	"context"
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

// Multi is several locks that are acquired all or none, in an order that is the same in every
// process, so that two with common names cannot deadlock. Its Hold is lost with the first of its
// members. Each member keeps its own fencing token, see Lock.Token.
type Multi struct{ owner *owner }

var multiKind = &kind{
	whatItIs:  "multi",
	free:      swig.Multi_free,
	cancel:    swig.Multi_cancel,
	interrupt: swig.Multi_interrupt,
	validMs:   swig.Multi_valid_ms,
	deadline:  swig.Multi_deadline_ns,
	number:    swig.Multi_hold_number,
	extend:    swig.Multi_extend_async,
}

var allHeld = &mode{swig.Multi_unlock_hold_async, swig.Multi_is_held}

// Member is what a Multi can be made of; see OfLock, ToRead, ToWrite and OfSemaphore.
type Member struct {
	owner *owner
	add   func(multi, member, details uintptr) int32
}

// OfLock is a mutex as a member.
func OfLock(lock *Lock) Member { return Member{lock.own(), swig.Multi_add_lock} }

// ToRead is a read-write lock as a member, acquired to read.
func ToRead(rw *RW) Member { return Member{rw.own(), swig.Multi_add_reader} }

// ToWrite is a read-write lock as a member, acquired to write.
func ToWrite(rw *RW) Member { return Member{rw.own(), swig.Multi_add_writer} }

// OfSemaphore is so many permits of a semaphore as a member.
func OfSemaphore(semaphore *Semaphore, weight int64) Member {
	return Member{semaphore.own(), func(multi, member, details uintptr) int32 {
		return swig.Multi_add_semaphore(multi, member, weight, details)
	}}
}

// NewMulti makes a set of handles of this client, each name once, at most 64. Each stays usable by
// itself.
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

func (o *owner) add(member Member) error {
	h := member.owner.core()
	address, err := h.enter()
	if err != nil {
		return err
	}
	defer h.leave()
	err = checked(func(details uintptr) int32 {
		return member.add(o.handle.address, address, details)
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

// Acquire waits until all members are held, or the context is over. Without all it holds none.
func (m *Multi) Acquire(ctx context.Context) (*Hold, error) {
	return m.own().acquire(ctx, allHeld, nil, swig.Multi_acquire_async)
}

// Try acquires all members if all are free; else it is ErrNotAcquired, and the message names the
// member that stood in the way.
func (m *Multi) Try(ctx context.Context) (*Hold, error) {
	return m.own().acquire(ctx, allHeld, trying(swig.Multi_try_async), nil)
}

// Deadline is when the hold ends unless it is renewed before, in nanoseconds of CLOCK_BOOTTIME,
// which runs on while the machine is suspended; 0 when nothing is held.
func (m *Multi) Deadline() int64 { return m.own().deadline() }

// Interrupt ends this handle's waiting acquire with ErrCancelled, and keeps every one that begins
// from beginning, until it is called with false. A hold is not touched. Most programs are content
// with a context.
func (m *Multi) Interrupt(isOn bool) error { return m.own().interrupt(isOn) }

// Close gives back what is held, and ends a call that waits with ErrClosed. The members stay.
func (m *Multi) Close() error { return m.own().close() }

// IsHeld tells whether all members are held by the local clock. It costs no network.
func (m *Multi) IsHeld() bool { return m.own().isHeld(swig.Multi_is_held) }

// Valid is how long the member is still valid that ends first; 0 when nothing is held.
func (m *Multi) Valid() time.Duration { return m.own().valid() }

// MemberCount is how many members it has.
func (m *Multi) MemberCount() int { return int(look(m.own().core(), swig.Multi_member_count)) }
