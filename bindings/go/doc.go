// Package mortise has distributed locks on Redis and Valkey: mutexes, read-write locks, semaphores,
// and several of them at once, with waiting in the order of arrival and a fencing token with every
// grant.
//
//	client, err := mortise.Open(ctx, "redis://localhost")
//	lock, err := client.NewLock("report")
//	hold, err := lock.Acquire(ctx)
//	defer hold.Unlock(ctx)
//	err = write(hold.Context(), hold.Token())
//
// Do has the same in one call. It is a thin layer over the C library, and cgo has to be on. The
// module as it is published has the library with it; build tags choose another libc (musl), the
// library's source (mortise_source), or an installed library by pkg-config (mortise_shared,
// mortise_static). Go's build cache does not look at an installed library: when another version is
// in its place, build once with -a. In the package that is installed with the library,
// mortise_shared is the default.
//
// # Rules
//
// A handle (Lock, RW, Semaphore, Multi) is an owner, neither a goroutine nor a name: two handles of
// one name exclude each other. Give each goroutine a handle of its own; they are cheap. ErrBusy
// says that two goroutines acquire with one. A member of a Multi has no Hold of its own: ask the
// handle itself whether it is held.
//
// A hold is a lease. It is renewed while the process lives, and ends by Hold.Unlock, or it is lost
// for ever: Hold.Lost is closed, and Hold.Context is cancelled so that the work stops. A lease
// cannot stop a paused process from acting after its end. Hand Hold.Token to whatever the lock
// protects, and let it refuse a token lower than the highest it has seen.
//
// # Contexts
//
// Everything that waits takes a context. An acquire that is cancelled holds nothing when it
// returns; a grant that came too late has been given back, within the command timeout of the
// client. Other calls go on without being waited for: an unlock unlocks in any case, and the next
// acquire of the handle waits for its answer. A wait costs no operating system thread, so ten
// thousand goroutines may wait. Hold.Unlock and RW.Downgrade take nil, too, and then wait for the
// command timeout at most.
//
// A failure of a call whose context is over is also that context's Err and its context.Cause to
// errors.Is, whatever else it says: an acquire that a deadline ended while no server answered is
// ErrUnreachable or ErrUnknown, and context.DeadlineExceeded. An acquire that a hold's context
// ended tells so why the hold ended.
//
// # Errors
//
// Every error is an *Error, and one of the sentinels to errors.Is: ErrNotAcquired, ErrTimedOut,
// ErrLost and so on. ErrTimedOut is always also context.DeadlineExceeded, and ErrCancelled is
// context.Canceled. The message and Error.Lock say which lock it is about, of a Multi which member.
// What is nil, such as the Lock of a NewLock that failed, or was not made by Open and the methods
// of the Client, is ErrInvalidArgument.
//
// # Ending
//
// Close clients and handles. What was forgotten is closed once the collector has found it. A
// program's end gives nothing back by itself, and os.Exit runs no deferred calls: close the client
// before. The option release_at_exit is for programs that C's exit ends, such as those with Go as a
// library. After a fork without exec, all calls on the parent's objects are ErrForked.
package mortise
