package mortise

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/mortise/mortise-go/internal/swig"
)

// Status is the result of a call, and also an error: compare with errors.Is. Negative values are
// errors, positive values are normal outcomes. A later version of the library may add values.
type Status int32

// Error returns the status in a few words, such as "mortise: timed out".
func (s Status) Error() string {
	return "mortise: " + swig.Text(swig.Status_text(int32(s)))
}

// Reason is why a hold was lost. A later version of the library may add values.
type Reason int32

// Error is a failure with its details.
type Error struct {
	// Status is the kind of failure.
	Status Status
	// Message explains in one line what was wrong and how to fix it. It may be empty.
	Message string
	// Lock is the name of the lock, or of the member of a Multi. It is empty if no lock is
	// concerned.
	Lock string
	// Reason is why the hold was lost, for ErrLost.
	Reason Reason
	// ServerText is the server's own message, such as "READONLY You can't write…", or empty.
	ServerText string

	isRetryable, isAmbiguous bool
	causes                   []error // what else it is
}

// IsRetryable reports whether the same call may succeed later without any change.
func (e *Error) IsRetryable() bool { return e.isRetryable }

// IsAmbiguous reports whether the server may have executed the request although the call failed.
func (e *Error) IsAmbiguous() bool { return e.isAmbiguous }

func (e *Error) Error() string {
	if e.Message == "" {
		return e.Status.Error()
	}
	return e.Status.Error() + ": " + e.Message
}

// Unwrap returns the status, for errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Status }

// Is reports whether the error matches the target. ErrTimedOut matches context.DeadlineExceeded,
// and ErrCancelled matches context.Canceled. A failure of a call whose context is over also matches
// the context's Err and Cause. A loss during Do also matches the error that the work returned.
func (e *Error) Is(target error) bool {
	if e.Status == ErrTimedOut && target == context.DeadlineExceeded ||
		e.Status == ErrCancelled && target == context.Canceled {
		return true
	}
	for _, cause := range e.causes {
		if errors.Is(cause, target) {
			return true
		}
	}
	return false
}

// As finds the cause of the context's end, and the error that the work under Do returned.
func (e *Error) As(target any) bool {
	if _, isStatus := target.(*Status); isStatus { // that of this failure
		return false
	}
	for _, cause := range e.causes {
		if errors.As(cause, target) {
			return true
		}
	}
	return false
}

// failure is an error that this package finds by itself.
func failure(status Status, message string) *Error {
	return &Error{Status: status, Message: message}
}

func noClient() *Error { return failure(ErrInvalidArgument, "empty Client; make one with Open") }

func clientClosed() *Error { return failure(ErrClosed, "the client was closed") }

// details is an error object of C. The details of a failure come with the call that failed, since a
// goroutine may be on another thread by the time it could ask for the last error.
type details struct{ address uintptr }

var spareDetails = sync.Pool{New: func() any {
	d := &details{swig.Error_new()}
	runtime.SetFinalizer(d, func(d *details) { swig.Error_free(d.address) })
	return d
}}

func (d *details) failure(status Status) *Error {
	return &Error{
		Status:      status,
		Message:     swig.Text(swig.Error_message(d.address)),
		Lock:        swig.Name(d.address, swig.Error_lock_name),
		ServerText:  swig.Text(swig.Error_server_text(d.address)),
		Reason:      Reason(swig.Error_reason(d.address)),
		isRetryable: swig.Error_is_retryable(d.address) != 0,
		isAmbiguous: swig.Error_is_ambiguous(d.address) != 0,
	}
}

// checked makes a call of C that answers with a status.
func checked(call func(details uintptr) int32) error {
	d := spareDetails.Get().(*details)
	defer spareDetails.Put(d)
	if status := call(d.address); status != 0 {
		return d.failure(Status(status))
	}
	return nil
}

// made makes a call of C that answers with a new object.
func made(call func(details uintptr) uintptr) (uintptr, error) {
	d := spareDetails.Get().(*details)
	defer spareDetails.Put(d)
	address := call(d.address)
	if address != 0 {
		return address, nil
	}
	status := Status(swig.Error_status(d.address))
	if status == 0 {
		status = ErrNoMemory // not even for the details
	}
	return 0, d.failure(status)
}
