// Package mortise provides distributed locks on Redis and Valkey: mutexes, read-write locks,
// semaphores, and several of them at once. Waiters are served in the order of arrival, and every
// grant has a fencing token.
//
//	client, err := mortise.Open(ctx, "redis://localhost")
//	lock, err := client.NewLock("report")
//	hold, err := lock.Acquire(ctx)
//	defer hold.Unlock(ctx)
//	err = write(hold.Context(), hold.Token())
//
// Do combines these steps in one call. The package is a thin layer over the C library and needs
// cgo. The published module includes the library. Build tags select another libc (musl), the
// library's source (mortise_source), or an installed library that pkg-config finds (mortise_shared,
// mortise_static). Go's build cache does not notice a new version of an installed library: build
// once with -a after a change. In the package that is installed with the library, mortise_shared is
// the default.
//
// # Rules
//
// A handle (Lock, RW, Semaphore, Multi) is the owner of a hold. Neither a goroutine nor a name is
// an owner: two handles of one name exclude each other. Give each goroutine its own handle. Handles
// are cheap. ErrBusy means that two goroutines acquire with one handle. A member of a Multi has no
// Hold of its own: ask the member's handle, by IsHeld, IsReading or IsWriting.
//
// A hold is a lease. It is renewed while the process lives. It ends by Hold.Unlock, or it is lost
// and never comes back. A loss closes Hold.Lost and cancels Hold.Context, so that the work stops. A
// lease cannot stop a paused process from acting after its end. Pass Hold.Token to the protected
// resource, which must refuse a token lower than the highest token it has seen.
//
// # Contexts
//
// Everything that waits takes a context. A canceled acquire holds nothing when it returns: a grant
// that came too late has been released, within the command timeout of the client. Other calls
// continue without the caller: an unlock still releases the lock, and the next acquire of the
// handle waits for its reply. A wait takes no operating system thread, so ten thousand goroutines
// may wait. Hold.Unlock and RW.Downgrade also accept nil, and then wait for the command timeout at
// most.
//
// When a call fails and its context is over, errors.Is also finds the context's Err and its
// context.Cause. For example, the deadline ends an acquire while no server replies: the error is
// ErrUnreachable or ErrUnknown, and context.DeadlineExceeded. An acquire that a hold's context
// ended thus reports why the hold ended.
//
// A goroutine that waits for a lock while it holds another can be in a deadlock. WithTask names the
// task of a context, and with WithDeadlockFailure one wait of a deadlock fails with ErrDeadlock.
//
// # Errors
//
// Every error is an *Error. With errors.Is it is one of the sentinels: ErrNotAcquired, ErrTimedOut,
// ErrLost and so on. ErrTimedOut is always also context.DeadlineExceeded, and ErrCancelled is
// context.Canceled. The message and Error.Lock name the lock, or the member of a Multi. Methods of
// a nil or zero object, such as the Lock of a failed NewLock, return ErrInvalidArgument.
//
// # Ending
//
// Close clients and handles. The garbage collector closes forgotten ones later. The end of a
// program releases nothing by itself, and os.Exit runs no deferred calls: close the client first.
// The option release_at_exit is for programs that end by C's exit, such as programs with Go as a
// library. After a fork without exec, all calls on the parent's objects return ErrForked.
package mortise
