package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/mortise/mortise-go"
)

// errNoHold is for calls on a hold where there never was one, which the package cannot express.
var errNoHold error = mortise.ErrNotOwner

// handle is an object of the package, with the holds that it gave, by mode; the newest is the last.
type handle struct {
	name   string
	run    int
	object any
	task   int64

	mutex     sync.Mutex
	holds     map[string][]*mortise.Hold
	ended     map[string]*mortise.Hold // the last that was unlocked
	isWatched bool
	cancel    context.CancelFunc // of the call in the background

	endReports context.CancelFunc
}

// newest is the hold of that mode which a call on the handle is for; nil if there never was one.
func (h *handle) newest(mode string) *mortise.Hold {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if count := len(h.holds[mode]); count > 0 {
		return h.holds[mode][count-1]
	}
	return h.ended[mode]
}

// held is the newest hold of any mode that was not unlocked.
func (h *handle) held() *mortise.Hold {
	for _, mode := range []string{"", "write", "read"} {
		h.mutex.Lock()
		count := len(h.holds[mode])
		h.mutex.Unlock()
		if count > 0 {
			return h.newest(mode)
		}
	}
	return nil
}

func (h *handle) add(mode string, hold *mortise.Hold) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.holds[mode] = append(h.holds[mode], hold)
	if h.isWatched {
		h.follow(hold)
	}
}

func (h *handle) remove(mode string, hold *mortise.Hold) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	for i, one := range h.holds[mode] {
		if one == hold {
			h.holds[mode] = append(h.holds[mode][:i:i], h.holds[mode][i+1:]...)
			h.ended[mode] = hold
			return
		}
	}
}

func (h *handle) watch() {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.isWatched = true
	for _, holds := range h.holds {
		for _, hold := range holds {
			h.follow(hold)
		}
	}
}

func (h *handle) follow(hold *mortise.Hold) {
	go h.report(hold, "lost", hold.Lost())
	go h.report(hold, "at_risk", hold.AtRisk())
	go h.report(hold, "contended", hold.Contended())
}

func (h *handle) report(hold *mortise.Hold, kind string, happened <-chan struct{}) {
	select {
	case <-happened:
	case <-hold.Context().Done():
		select {
		case <-happened:
		default:
			return
		}
	}
	var over *mortise.Error
	if !errors.As(hold.Err(), &over) {
		over = new(mortise.Error)
	}
	h.notify(kind, "token=%d reason=%d text=%s", hold.Token(), over.Reason,
		url.PathEscape(over.Message))
}

// ---- calls
// ---------------------------------------------------------------------------------------

func (h *handle) try(ctx context.Context, mode string, given arguments) (*mortise.Hold, error) {
	switch object := h.object.(type) {
	case *mortise.Lock:
		return object.Try(ctx)
	case *mortise.Semaphore:
		return object.Try(ctx, given.number("weight", 1))
	case *mortise.Election:
		return object.TryCampaign(ctx)
	case *mortise.RW:
		if mode == "read" {
			return object.TryRead(ctx)
		}
		return object.TryWrite(ctx)
	}
	return h.object.(*mortise.Multi).Try(ctx)
}

// acquire waits as long as the context lasts. One that must not wait at all is a Try in Go.
func (h *handle) acquire(ctx context.Context, mode string, given arguments) (*mortise.Hold, error) {
	timeoutMs := given.number("timeout_ms", 0)
	if timeoutMs == 0 {
		hold, err := h.try(ctx, mode, given)
		if errors.Is(err, mortise.ErrNotAcquired) {
			err = mortise.ErrTimedOut
		}
		return hold, err
	}
	if timeoutMs > 0 {
		// The deadline is inside, so that the observed context stays the outermost.
		var cancel context.CancelFunc
		ctx, cancel = withTimeout(ctx, time.Duration(timeoutMs)*time.Millisecond)
		defer cancel()
	}
	switch object := h.object.(type) {
	case *mortise.Lock:
		return object.Acquire(ctx)
	case *mortise.Semaphore:
		return object.Acquire(ctx, given.number("weight", 1))
	case *mortise.Election:
		return object.Campaign(ctx)
	case *mortise.RW:
		if mode == "read" {
			return object.Read(ctx)
		}
		return object.Write(ctx)
	}
	return h.object.(*mortise.Multi).Acquire(ctx)
}

func (h *handle) unlock(ctx context.Context, mode string) error {
	hold := h.newest(mode)
	if hold == nil {
		return errNoHold
	}
	err := hold.Unlock(ctx)
	if !errors.Is(err, mortise.ErrBusy) {
		h.remove(mode, hold)
	}
	return err
}

func (h *handle) change(ctx context.Context, from, to string) result {
	rw, hold := h.object.(*mortise.RW), h.newest(from)
	if hold == nil {
		return failed(errNoHold)
	}
	turn := rw.Downgrade
	if to == "write" {
		turn = rw.TryUpgrade
	}
	if err := turn(ctx, hold); err != nil {
		return failed(err)
	}
	h.remove(from, hold)
	h.add(to, hold)
	return result{token: hold.Token()}
}

func (h *handle) query(ctx context.Context) (*mortise.Info, error) {
	return h.object.(interface {
		Query(context.Context) (*mortise.Info, error)
	}).Query(ctx)
}

// forceRelease ends the hold of the owner that is given, or of the first that the server knows of.
func (h *handle) forceRelease(ctx context.Context, given arguments) error {
	owner, isGiven := given["owner"]
	if !isGiven {
		if info, err := h.query(ctx); err == nil && len(info.Holders) > 0 {
			owner = info.Holders[0].Owner
		}
	}
	return h.object.(interface {
		ForceRelease(context.Context, string) error
	}).ForceRelease(ctx, owner)
}

// stats returns what the client has counted: how much, as JSON, or one sample.
func (h *handle) stats(of string) result {
	counted, err := h.object.(*mortise.Client).Stats()
	if err != nil {
		return failed(err)
	}
	if of == "" {
		count := int64(len(counted.Samples))
		return result{value: &count, text: counted.JSON}
	}
	for _, one := range counted.Samples {
		if isSample(one, of) {
			count := int64(one.Value)
			return result{value: &count, text: one.Type}
		}
	}
	return result{}
}

// watchLog prints each line of the client's log, or ends that without a level.
func (h *handle) watchLog(given arguments) error {
	if given["level"] == "" {
		h.endReports()
		return nil
	}
	lines, err := h.object.(*mortise.Client).Log(h.reports(),
		mortise.LogLevel(given.number("level", 0)))
	go func() {
		for line := range lines {
			var over *mortise.Error
			if !errors.As(line.Err, &over) {
				over = new(mortise.Error)
			}
			h.notify(fmt.Sprint(line.Subject), "value=%d reason=%d text=%s", line.Level, over.Reason,
				url.PathEscape(line.Text))
		}
	}()
	return err
}

// watchStats prints when statistics are available, or ends that without an interval.
func (h *handle) watchStats(given arguments) error {
	if given["interval_ms"] == "" {
		h.endReports()
		return nil
	}
	interval := time.Duration(given.number("interval_ms", 0)) * time.Millisecond
	all, err := h.object.(*mortise.Client).StatsEvery(h.reports(), interval)
	go func() {
		for counted := range all {
			h.notify("stats", "value=%d", len(counted.Samples))
		}
	}()
	return err
}

// observe prints the leaders, or ends that without an interval.
func (h *handle) observe(given arguments) error {
	if given["interval_ms"] == "" {
		h.endReports()
		return nil
	}
	interval := time.Duration(given.number("interval_ms", 0)) * time.Millisecond
	leaders, err := h.object.(*mortise.Election).Observe(h.reports(), interval)
	go func() {
		for leader := range leaders {
			if leader == nil {
				h.notify("no_leader", "token=0")
			} else {
				h.notify("leader", "text=%s", url.PathEscape(leader.Value))
			}
		}
	}()
	return err
}

// reports is a context until endReports.
func (h *handle) reports() context.Context {
	ctx, end := context.WithCancel(context.Background())
	h.endReports = end
	return ctx
}

// check returns the result of a health check: all of it, as JSON, or one finding.
func (h *handle) checkHealth(ctx context.Context, method, of string) result {
	client := h.object.(*mortise.Client)
	found, err := client.LastHealth()
	if method == "check_health" {
		found, err = client.CheckHealth(ctx)
	}
	if err != nil {
		return failed(err)
	}
	switch of {
	case "":
		return number(int64(found.Worst))
	case "json":
		count := int64(len(found.Findings))
		return result{value: &count, text: found.JSON}
	}
	for _, one := range found.Findings {
		if one.Name == of {
			severity := int64(one.Severity)
			text := []string{one.Severity.String(), one.Server, one.Value, one.Consequence, one.Remedy}
			return result{value: &severity, text: strings.Join(text, "\n")}
		}
	}
	return result{}
}

func deadlineOf(end time.Time) int64 {
	if end.IsZero() {
		return 0
	}
	return end.UnixNano()
}

// isHeld asks the hold, and where there is none, as of a member of a multi, the handle.
func (h *handle) isHeld(mode string) bool {
	if h.held() != nil {
		own := h.newest(mode)
		return own != nil && own.IsHeld()
	}
	switch mode {
	case "read":
		return h.object.(*mortise.RW).IsReading()
	case "write":
		return h.object.(*mortise.RW).IsWriting()
	}
	return h.object.(interface{ IsHeld() bool }).IsHeld()
}

func (h *handle) extend(ctx context.Context, given arguments) result {
	hold := h.held()
	if hold == nil {
		return failed(errNoHold)
	}
	lease := time.Duration(given.number("lease_ms", 0)) * time.Millisecond
	return result{err: hold.Extend(ctx, lease), token: hold.Token()}
}

func (h *handle) adopt(ctx context.Context, given arguments) result {
	owner := h.object.(interface {
		Adopt(context.Context, string) (*mortise.Hold, error)
	})
	hold, err := owner.Adopt(ctx, given["id"])
	if err != nil {
		return failed(err)
	}
	mode := ""
	if rw, isRW := h.object.(*mortise.RW); isRW {
		mode = "read"
		if rw.IsWriting() {
			mode = "write"
		}
	}
	h.add(mode, hold)
	if name := given["gives"]; name != "" {
		namedHolds[name] = &named{hold, h, mode}
	}
	return result{token: hold.Token()}
}

func (h *handle) progress() result {
	hold := h.held()
	if hold == nil {
		return failed(errNoHold)
	}
	return h.progressOf(hold)
}

// progressOf reports the next risk, too, which has a channel of its own.
func (h *handle) progressOf(hold *mortise.Hold) result {
	reported := hold.AtRisk()
	err := hold.Progress()
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if next := hold.AtRisk(); h.isWatched && next != reported {
		go h.report(hold, "at_risk", next)
	}
	return result{err: err, token: hold.Token()}
}

func (h *handle) endWait() error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.cancel == nil {
		return mortise.ErrNotWaiting
	}
	h.cancel()
	return nil
}

// call makes a call by its name in C.
func (h *handle) call(ctx context.Context, method string, given arguments) result {
	mode := ""
	if way, rest, isOfMode := strings.Cut(method, "_"); isOfMode && (way == "read" || way == "write") {
		mode, method = way, rest
	}
	switch method {
	case "try", "acquire", "campaign":
		attempt := h.try
		if method != "try" {
			attempt = h.acquire
		}
		hold, err := attempt(ctx, mode, given)
		if err != nil {
			return failed(err)
		}
		h.add(mode, hold)
		if name := given["gives"]; name != "" {
			namedHolds[name] = &named{hold, h, mode}
		}
		return result{token: hold.Token()}
	case "unlock", "release", "resign":
		return failed(h.unlock(ctx, mode))
	case "upgrade":
		return h.change(ctx, "read", "write")
	case "downgrade":
		return h.change(ctx, "write", "read")
	case "extend":
		return h.extend(ctx, given)
	case "progress":
		return h.progress()
	case "set_value":
		hold := h.held()
		if hold == nil {
			return failed(errNoHold)
		}
		return failed(hold.SetValue(ctx, given["value"]))
	case "export":
		if hold := h.held(); hold != nil {
			return export(ctx, hold, given)
		}
		return failed(errNoHold)
	case "adopt":
		return h.adopt(ctx, given)
	case "valid_ms":
		if hold := h.held(); hold != nil {
			return number(hold.Valid().Milliseconds())
		}
		return number(h.object.(interface{ Valid() time.Duration }).Valid().Milliseconds())
	case "is_held":
		return truth(h.isHeld(""))
	case "is_leader":
		return truth(h.object.(*mortise.Election).IsLeader())
	case "is_reading":
		return truth(h.isHeld("read"))
	case "is_writing":
		return truth(h.isHeld("write"))
	}
	return h.callOther(ctx, method, given)
}

// callOther makes the calls that need no hold.
func (h *handle) callOther(ctx context.Context, method string, given arguments) result {
	switch method {
	case "token":
		return number(h.object.(interface{ Token() int64 }).Token())
	case "query":
		info, err := h.query(ctx)
		if err != nil {
			return failed(err)
		}
		return infoField(info, given["of"])
	case "force_release":
		return failed(h.forceRelease(ctx, given))
	case "member_count":
		return number(int64(h.object.(*mortise.Multi).MemberCount()))
	case "deadline_ns":
		return number(deadlineOf(h.object.(interface{ Deadline() time.Time }).Deadline()))
	case "name":
		return result{text: h.object.(interface{ Name() string }).Name()}
	case "interrupt":
		isOn := given.number("is_on", 1) == 1
		return failed(h.object.(interface{ Interrupt(bool) error }).Interrupt(isOn))
	case "set_task":
		h.setTask(given.number("task", 0))
		return result{}
	case "cancel":
		return failed(h.endWait())
	case "watch":
		h.watch()
		return result{}
	case "observe":
		return failed(h.observe(given))
	case "resize":
		return failed(h.object.(*mortise.Semaphore).Resize(ctx, given.number("permits", 1)))
	case "check_health", "last_health":
		return h.checkHealth(ctx, method, given["of"])
	case "list_locks":
		ctx, cancel := given.within(ctx)
		defer cancel()
		return listingField(given["of"])(h.object.(*mortise.Client).ListLocks(ctx))
	case "scan_locks":
		ctx, cancel := given.within(ctx)
		defer cancel()
		return listingField(given["of"])(h.object.(*mortise.Client).ScanLocks(ctx, given["pattern"],
			given.number("most_keys", 1000)))
	case "list_history":
		ctx, cancel := given.within(ctx)
		defer cancel()
		window := time.Duration(given.number("window_ms", 60000)) * time.Millisecond
		taken, err := h.object.(*mortise.Client).ListHistory(ctx, given["lock"], window)
		return historyField(taken, err, given["of"])
	case "stats":
		return h.stats(given["of"])
	case "watch_log":
		return failed(h.watchLog(given))
	case "watch_stats":
		return failed(h.watchStats(given))
	case "watch_locks":
		listeners[h.name].isOn.Store(given["is_on"] == "1")
		return result{}
	case "ping":
		return failed(h.object.(*mortise.Client).Ping(ctx))
	case "set_credentials":
		client := h.object.(*mortise.Client)
		return failed(client.SetCredentials(ctx, given["user"], given["password"]))
	case "free":
		return failed(h.object.(interface{ Close() error }).Close())
	}
	panic("no method " + method)
}
