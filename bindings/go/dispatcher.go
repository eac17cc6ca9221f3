package mortise

import (
	"os"
	"syscall"

	"github.com/mortise/mortise-go/internal/swig"
)

// batch is how many events the dispatcher takes at once at most.
const batch = 64

// reader takes events from a queue of C.
type reader struct {
	engine  *engine
	queue   uintptr
	event   uintptr
	records []int64 // apart: C may see no memory that has pointers of Go
}

func newReader(e *engine, queue uintptr, batch int) (*reader, error) {
	r := &reader{engine: e, queue: queue, event: swig.Event_new()}
	if r.event == 0 {
		return nil, failure(ErrNoMemory, "no memory for events")
	}
	r.records = make([]int64, batch*recordFields)
	return r, nil
}

func (r *reader) free() { swig.Event_free(r.event) }

// take hands on what is in the queue. It says whether there may be more now, and whether there may
// be more ever.
func (r *reader) take(
	timeoutMs int64, deliver func(kind, tag int64, told event),
) (more, ever bool) {
	room := int64(len(r.records) / recordFields)
	count := swig.Go_drain(r.queue, r.event, timeoutMs, &r.records[0], room)
	if count < 0 {
		return false, false
	}
	hasMore := false // than numbers, which C gives of the last one
	for i := int64(0); i < count; i++ {
		record := r.records[i*recordFields : (i+1)*recordFields]
		status := Status(record[2])
		told := event{token: record[3], number: record[4]}
		hasMore = status != 0 || record[0] == eventLog || isOfElection(record[0])
		if status != 0 {
			told.failure = r.failure(status)
		}
		if record[0] == eventLog {
			told.line = r.line(told.failure)
		}
		if isOfElection(record[0]) {
			told.leader = r.leader()
		}
		deliver(record[0], record[1], told)
	}
	return count == room || hasMore, true
}

func isOfElection(kind int64) bool { return kind == eventLeader || kind == eventNoLeader }

// line is that of a log that was taken last.
func (r *reader) line(came *Error) *LogLine {
	line := &LogLine{
		Level:          LogLevel(swig.Event_log_level(r.event)),
		Subject:        LogSubject(swig.Event_log_subject(r.event)),
		Text:           swig.Text(swig.Event_message(r.event)),
		Lock:           swig.Name(r.event, swig.Event_lock_name),
		DroppedRecords: swig.Event_dropped_records(r.event),
	}
	if came != nil {
		line.Err = came
	}
	return line
}

// failure has the details of the event that was taken last.
func (r *reader) failure(status Status) *Error {
	return r.engine.translate(&Error{
		Status:      status,
		Message:     swig.Text(swig.Event_message(r.event)),
		Lock:        swig.Name(r.event, swig.Event_lock_name),
		ServerText:  swig.Text(swig.Event_server_text(r.event)),
		Reason:      Reason(swig.Event_reason(r.event)),
		isRetryable: swig.Event_is_retryable(r.event) != 0,
		isAmbiguous: swig.Event_is_ambiguous(r.event) != 0,
	})
}

// startDispatcher starts the goroutine that reads the queue. It keeps no thread: the runtime's
// poller watches a duplicate of the queue's descriptor.
func (e *engine) startDispatcher() error {
	r, err := newReader(e, e.queue.address, batch)
	if err != nil {
		return err
	}
	descriptor, err := duplicate(int(swig.Queue_fd(e.queue.address)))
	if err != nil {
		r.free()
		return failure(ErrLimit, "cannot duplicate a descriptor: "+err.Error())
	}
	go e.dispatch(r, os.NewFile(uintptr(descriptor), "mortise queue"))
	return nil
}

// duplicate is close-on-exec from the beginning, because threads of C may start programs, too, and
// do not know of Go's fork lock.
func duplicate(descriptor int) (int, error) {
	duplicated, _, failed := syscall.Syscall(
		syscall.SYS_FCNTL, uintptr(descriptor), syscall.F_DUPFD_CLOEXEC, 0)
	if failed != 0 {
		return 0, failed
	}
	return int(duplicated), nil
}

// dispatch hands events to whom they concern. It runs no code of the user, and never waits for any.
func (e *engine) dispatch(r *reader, file *os.File) {
	defer close(e.isDrained)
	defer r.free()
	defer file.Close()
	if connection, err := file.SyscallConn(); err == nil {
		// The poller tells of changes only, so everything there is has to be taken each time.
		_ = connection.Read(func(uintptr) bool {
			for more := true; more; {
				more, _ = r.take(0, e.deliver)
			}
			return e.isClosing.Load()
		})
	}
	// A queue that was shut down stays readable, of which the poller tells once only: the last events
	// are waited for in C.
	for ever := true; ever; {
		_, ever = r.take(forever, e.deliver)
	}
}

func (e *engine) deliver(kind, tag int64, told event) {
	if kind == eventLog || kind == eventStats {
		e.report(tag, told.line)
		return
	}
	if isOfElection(kind) {
		e.observe(tag, told.leader)
		return
	}
	if kind == eventLost || kind == eventAtRisk || kind == eventContended {
		e.mutex.Lock()
		h := e.handles[tag]
		e.mutex.Unlock()
		if h != nil {
			h.notice(kind, told)
		}
		return
	}
	if c := e.take(tag); c != nil {
		c.end(told)
		c.ended <- told
	}
}
