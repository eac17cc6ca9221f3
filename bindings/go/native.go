package mortise

import "sync"

// native is an object of C. It is freed when it has been closed and nobody is inside a call on it:
// a call that began after the end would use freed memory.
type native struct {
	mutex    sync.Mutex
	address  uintptr
	free     func(address uintptr)
	users    int
	isClosed bool
}

// enter is the address, to be used until leave.
func (n *native) enter() (uintptr, error) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.isClosed {
		return 0, failure(ErrClosed, "it is already closed")
	}
	n.users++
	return n.address, nil
}

func (n *native) leave() {
	n.mutex.Lock()
	n.users--
	isLast := n.isClosed && n.users == 0
	n.mutex.Unlock()
	if isLast {
		n.free(n.address)
	}
}

// close lets nobody in from now on, and says whether it is the first to do so. If somebody is
// inside, it is told to end what it waits for.
func (n *native) close(end func(address uintptr)) bool {
	n.mutex.Lock()
	isFirst := !n.isClosed
	n.isClosed = true
	isInUse := n.users > 0
	if isFirst {
		n.users++
	}
	n.mutex.Unlock()
	if !isFirst {
		return false
	}
	if isInUse && end != nil {
		end(n.address)
	}
	n.leave()
	return true
}

// hasClosed tells whether the close has begun.
func (n *native) hasClosed() bool {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return n.isClosed
}

// isInUse tells whether somebody is inside a call on it, after whose end it is freed.
func (n *native) isInUse() bool {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return n.users > 0
}
