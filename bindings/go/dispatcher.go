package mortise

import (
	"os"
	"syscall"

	"github.com/mortise/mortise-go/internal/swig"
)

// startDispatcher starts the goroutine that reads the queue. It keeps no thread: the runtime's poller
// watches a duplicate of the queue's descriptor.
func (e *engine) startDispatcher() error {
	d := &dispatcher{
		engine:  e,
		event:   swig.Event_new(),
		records: make([]int64, batch*recordFields),
	}
	if d.event == 0 {
		return failure(ErrNoMemory, "no memory for events")
	}
	descriptor, err := duplicate(int(swig.Queue_fd(e.queue.address)))
	if err != nil {
		swig.Event_free(d.event)
		return failure(ErrLimit, "no file descriptor is left: "+err.Error())
	}
	file := os.NewFile(uintptr(descriptor), "mortise queue")
	go d.run(file)
	return nil
}

func duplicate(descriptor int) (int, error) {
	syscall.ForkLock.RLock() // so that no child inherits it before it is marked
	defer syscall.ForkLock.RUnlock()
	duplicated, err := syscall.Dup(descriptor)
	if err == nil {
		syscall.CloseOnExec(duplicated)
	}
	return duplicated, err
}

// dispatcher takes events from the queue and hands them to whom they concern. It runs no code of the
// user, and never waits for any.
type dispatcher struct {
	engine  *engine
	event   uintptr
	records []int64 // apart: C may see no memory that has pointers of Go
}

const (
	// recordFields are kind, tag, status and token.
	recordFields = 4
	// batch is how many events are taken at once at most.
	batch = 64
)

func (d *dispatcher) run(file *os.File) {
	defer close(d.engine.isDrained)
	defer swig.Event_free(d.event)
	defer file.Close()
	if connection, err := file.SyscallConn(); err == nil {
		// The poller tells of changes only, so everything there is has to be taken each time.
		_ = connection.Read(func(uintptr) bool {
			for d.take(0) {
			}
			return d.engine.isClosing.Load()
		})
	}
	// A queue that was shut down stays readable, of which the poller tells once only: the last events
	// are waited for in C.
	for d.take(forever) {
	}
}

// take hands on what is in the queue and says whether there may be more.
func (d *dispatcher) take(timeoutMs int64) bool {
	count := swig.Go_drain(d.engine.queue.address, d.event, timeoutMs, &d.records[0], batch)
	if count < 0 {
		return false
	}
	isLastFailure := false
	for i := int64(0); i < count; i++ {
		record := d.records[i*recordFields : (i+1)*recordFields]
		status := Status(record[2])
		isLastFailure = status != 0
		told := event{token: record[3]}
		if isLastFailure {
			told.failure = d.failure(status)
		}
		d.deliver(record[0], record[1], told)
	}
	return timeoutMs != 0 || count == batch || isLastFailure
}

// failure has the details of the event that was taken last.
func (d *dispatcher) failure(status Status) *Error {
	return d.engine.translate(&Error{
		Status:      status,
		Message:     swig.Text(swig.Event_message(d.event)),
		ServerText:  swig.Text(swig.Event_server_text(d.event)),
		isRetryable: swig.Event_is_retryable(d.event) != 0,
		isAmbiguous: swig.Event_is_ambiguous(d.event) != 0,
	})
}

// Kinds of events that are no end of a call.
const (
	eventLost   = 4
	eventAtRisk = 5
)

func (d *dispatcher) deliver(kind, tag int64, told event) {
	if kind == eventLost || kind == eventAtRisk {
		d.engine.mutex.Lock()
		h := d.engine.handles[tag]
		d.engine.mutex.Unlock()
		if h != nil {
			h.notice(kind, told)
		}
		return
	}
	c := d.engine.take(tag)
	if c == nil {
		return
	}
	if c.onEnd != nil {
		c.onEnd(told)
	}
	c.ended <- told
}
