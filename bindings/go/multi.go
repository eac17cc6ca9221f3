package mortise

import (
	"context"
	"runtime"

	"github.com/mortise/mortise-go/internal/swig"
)

// Multi is several locks that are acquired all or none, in an order that is the same in every process,
// so that two with common names cannot deadlock. Its Hold is lost with the first of its members. Each
// member keeps its own fencing token, see Lock.Token.
type Multi struct {
	handle  *handle
	client  *Client
	members []any // kept from being collected
}

var multiKind = &kind{
	whatItIs: "multi",
	free:     swig.Multi_free,
	cancel:   swig.Multi_cancel,
	validMs:  swig.Multi_valid_ms,
}

var allHeld = &mode{swig.Multi_unlock_async, swig.Multi_is_held}

// Member is what a Multi can be made of; see OfLock, ToRead, ToWrite and OfSemaphore.
type Member struct {
	handle *handle
	user   any
	add    func(multi, member, details uintptr) int32
}

// OfLock is a mutex as a member.
func OfLock(lock *Lock) Member { return Member{lock.handle, lock, swig.Multi_add_lock} }

// ToRead is a read-write lock as a member, acquired to read.
func ToRead(rw *RW) Member { return Member{rw.handle, rw, swig.Multi_add_reader} }

// ToWrite is a read-write lock as a member, acquired to write.
func ToWrite(rw *RW) Member { return Member{rw.handle, rw, swig.Multi_add_writer} }

// OfSemaphore is so many permits of a semaphore as a member.
func OfSemaphore(semaphore *Semaphore, weight int64) Member {
	return Member{semaphore.handle, semaphore, func(multi, member, details uintptr) int32 {
		return swig.Multi_add_semaphore(multi, member, weight, details)
	}}
}

// NewMulti makes a set of handles of this client, each name once, at most 64. Each stays usable by
// itself.
func (c *Client) NewMulti(members ...Member) (*Multi, error) {
	h, err := newHandle(c.engine, multiKind, swig.Multi_new)
	if err != nil {
		return nil, err
	}
	multi := &Multi{handle: h, client: c}
	for _, member := range members {
		if err := multi.add(member); err != nil {
			h.close()
			return nil, err
		}
	}
	runtime.SetFinalizer(multi, func(m *Multi) { m.Close() })
	return multi, nil
}

func (m *Multi) add(member Member) error {
	address, err := member.handle.enter()
	if err != nil {
		return err
	}
	defer member.handle.leave()
	err = checked(func(details uintptr) int32 {
		return member.add(m.handle.address, address, details)
	})
	if err != nil {
		return err
	}
	m.members = append(m.members, member.user)
	m.handle.members = append(m.handle.members, member.handle)
	return nil
}

// Acquire waits until all members are held, or the context is over. Without all it holds none.
func (m *Multi) Acquire(ctx context.Context) (*Hold, error) {
	return m.handle.acquire(ctx, m, allHeld, nil, swig.Multi_acquire_async)
}

// Try acquires all members if all are free; else it is ErrNotAcquired, and the message names the
// member that stood in the way.
func (m *Multi) Try(ctx context.Context) (*Hold, error) {
	return m.handle.acquire(ctx, m, allHeld, trying(swig.Multi_try_async), nil)
}

// Close gives back what is held, and ends a call that waits with ErrClosed. The members stay.
func (m *Multi) Close() error { return m.handle.close() }
