package mortise

import (
	"context"
	"runtime"
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

// unreadLines is how many lines of a log are kept for who reads them.
const unreadLines = 64

// LogLevel is the severity of a log record. Lower values are more severe. A later version of the
// library may add values.
type LogLevel int32

// String returns "error", "warning" or "info".
func (l LogLevel) String() string { return swig.Text(swig.Log_level_text(int32(l))) }

// LogSubject is the subject of a log record. A later version of the library may add values.
type LogSubject int32

// String returns one word, such as "reconnected".
func (s LogSubject) String() string { return swig.Text(swig.Log_subject_text(int32(s))) }

// LogLine is one record of a client's log.
type LogLine struct {
	Level   LogLevel
	Subject LogSubject
	// Text is the message, for people.
	Text string
	// Lock is the name of the lock, or empty for a record about a server.
	Lock string
	// DroppedRecords is the number of records that were dropped just before this one.
	DroppedRecords int64
	// Err is the error that the record reports. It is nil if the problem is over.
	Err error
}

// reports are where the events of one watch of a client go. Under the engine's mutex.
type reports struct {
	tag            int64
	lines          chan LogLine
	droppedRecords int64         // for want of room in lines
	due            chan struct{} // of statistics
	over           chan struct{} // closed when another watch has replaced it
}

// Log reports events of the client with this level or a more severe one. The events are connections
// that end or come back, servers that refuse the client, changes of the server, and lost holds. The
// channel is closed when ctx is over, when the client is closed, or by the next call of Log, which
// replaces it.
//
// The client never waits for the reader of the channel. It drops records that are not read, and
// limits each subject to ten records at once and then one in ten seconds. The next record has the
// number of dropped records. Use a Hold's context to detect a loss.
func (c *Client) Log(ctx context.Context, level LogLevel) (<-chan LogLine, error) {
	r := &reports{lines: make(chan LogLine, unreadLines)}
	e, err := c.watch(ctx, r, logOf, func(client, queue uintptr, tag int64, details uintptr) int32 {
		return swig.Client_watch_log(client, queue, tag, int32(level), details)
	})
	if err != nil {
		return nil, err
	}
	go func() {
		r.await(ctx, e)
		e.endWatch(r, logOf, func(client uintptr) {
			swig.Client_watch_log(client, 0, 0, 0, 0)
		})
		close(r.lines) // which nothing is sent to any more
	}()
	return r.lines, nil
}

// StatsEvery sends the statistics of the client at this interval, at least 10 ms. The channel is
// closed when ctx is over, when the client is closed, or by the next call of StatsEvery, which
// replaces it. Statistics are not gathered while the channel is not read.
func (c *Client) StatsEvery(ctx context.Context, interval time.Duration) (<-chan *Stats, error) {
	r := &reports{due: make(chan struct{}, 1)}
	e, err := c.watch(ctx, r, statsOf, func(client, queue uintptr, tag int64, details uintptr) int32 {
		return swig.Client_watch_stats(client, queue, tag, interval.Milliseconds(), details)
	})
	if err != nil {
		return nil, err
	}
	told := make(chan *Stats)
	go func() {
		defer close(told)
		for r.awaitDue(ctx, e) {
			counted, err := e.readStats()
			if err != nil {
				break // the client was closed
			}
			select {
			case told <- counted:
			case <-ctx.Done():
			case <-r.over:
			case <-e.isDrained:
			}
		}
		e.endWatch(r, statsOf, func(client uintptr) {
			swig.Client_watch_stats(client, 0, 0, 0, 0)
		})
	}()
	return told, nil
}

func logOf(e *engine) **reports   { return &e.log }
func statsOf(e *engine) **reports { return &e.stats }

// watch begins one, in place of an earlier one.
func (c *Client) watch(ctx context.Context, r *reports, place func(*engine) **reports,
	begin func(client, queue uintptr, tag int64, details uintptr) int32,
) (*engine, error) {
	e := c.core()
	if e == nil {
		return nil, noClient()
	}
	defer runtime.KeepAlive(c)
	if err := alive(ctx); err != nil {
		return nil, under(ctx, err)
	}
	queue, err := e.enter()
	if err != nil {
		return nil, err
	}
	defer e.queue.leave()
	client, err := e.client.enter()
	if err != nil {
		return nil, clientClosed()
	}
	defer e.client.leave()
	r.over = make(chan struct{})
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.lastTag++
	r.tag = e.lastTag
	// Nothing that C does here waits for the dispatcher.
	err = checked(func(details uintptr) int32 { return begin(client, queue, r.tag, details) })
	if err != nil {
		return nil, e.translate(err.(*Error))
	}
	if before := *place(e); before != nil {
		close(before.over)
	}
	*place(e) = r
	return e, nil
}

// endWatch ends one that nothing has replaced.
func (e *engine) endWatch(r *reports, place func(*engine) **reports, end func(client uintptr)) {
	client, err := e.client.enter()
	if err == nil {
		defer e.client.leave()
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if *place(e) != r {
		return
	}
	*place(e) = nil
	if err == nil {
		end(client)
	}
}

// report hands on an event that is about no call and no handle. It waits for nobody.
func (e *engine) report(tag int64, line *LogLine) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if line == nil {
		if r := e.stats; r != nil && r.tag == tag {
			select {
			case r.due <- struct{}{}:
			default:
			}
		}
		return
	}
	r := e.log
	if r == nil || r.tag != tag {
		return
	}
	line.DroppedRecords += r.droppedRecords
	select {
	case r.lines <- *line:
		r.droppedRecords = 0
	default:
		r.droppedRecords = line.DroppedRecords + 1
	}
}

// await waits for the end of a watch.
func (r *reports) await(ctx context.Context, e *engine) {
	select {
	case <-ctx.Done():
	case <-r.over:
	case <-e.isDrained:
	}
}

// awaitDue says whether statistics are due, or false at the end of the watch.
func (r *reports) awaitDue(ctx context.Context, e *engine) bool {
	select {
	case <-r.due:
		return true
	case <-ctx.Done():
	case <-r.over:
	case <-e.isDrained:
	}
	return false
}
