package main

import "sort"

type action int

const (
	grant action = iota
	enter        // a reentrant owner acquires again
	leave        // and unlocks without releasing
	end
	held // the client reports that the owner holds
	upgrade
	downgrade
	write   // to the register that the lock guards
	instant // a grant, or an upgrade, and its end at once
)

const noHold = int32(-1)

// An event is an operation of a model. It takes effect once between call and ret.
type event struct {
	action    action
	hold      int32 // the hold, numbered within the history
	isWriter  bool  // a mutex and a writer
	isUpgrade bool
	token     int64
	ownToken  int64 // what the hold's grant reported
	permits   int64
	capacity  int64
	leaseEnd  int64
	accepted  bool
	highest   int64
	call, ret int64
	owner     int
}

// A claim is a hold as its owner reports it.
type claim struct {
	id       int32
	number   int64
	token    int64
	isWriter bool
	count    int
	permits  int64
	capacity int64
	// The last moment at which the client certainly held, and the latest lease end that it reported.
	evidence int64
	leaseEnd int64
	grantAt  int  // place of its grant among the events of the name
	isOver   bool // when the acquire or upgrade returned, and nothing since has confirmed the hold
}

// A lockHistory has the events of one name.
type lockHistory struct {
	name, kind string
	events     []event
	writes     []event
	waits      []wait
	holds      []span // until the release has certainly taken effect
}

type span struct{ from, to int64 }

type claims struct {
	names map[string]*lockHistory
	next  int32
}

type ownerKey struct {
	process, client, owner int64
	name                   string
}

// findClaims turns the operations of each owner into events of its lock.
func findClaims(all []operation) *claims {
	owners := map[ownerKey][]*operation{}
	var order []ownerKey
	for i := range all {
		one := &all[i]
		key := ownerKey{one.Process, one.Client, one.Owner, one.Name}
		if owners[key] == nil {
			order = append(order, key)
		}
		owners[key] = append(owners[key], one)
	}
	found := &claims{names: map[string]*lockHistory{}}
	for number, key := range order {
		calls := owners[key]
		sort.SliceStable(calls, func(i, j int) bool {
			if calls[i].Call != calls[j].Call {
				return calls[i].Call < calls[j].Call
			}
			return calls[i].Return < calls[j].Return
		})
		lock := found.names[key.name]
		if lock == nil {
			lock = &lockHistory{name: key.name, kind: calls[0].Kind}
			found.names[key.name] = lock
		}
		one := ownerWalk{lock: lock, claims: found, number: number, known: map[int64]claim{}}
		for _, call := range calls {
			one.take(call)
		}
		one.cutOff()
	}
	return found
}

// An ownerWalk follows one owner through its calls, which come one after the other.
type ownerWalk struct {
	lock    *lockHistory
	claims  *claims
	number  int
	current *claim
	known   map[int64]claim // by hold number; also those that have ended
	start   int64
}

func (w *ownerWalk) take(one *operation) {
	switch one.Op {
	case "acquire", "try":
		w.acquire(one)
	case "unlock":
		w.unlock(one)
	case "extend":
		if one.Status == "ok" {
			w.confirm(one)
		} else if one.Status == "lost" {
			w.lose(one)
		}
	case "is_held":
		if one.Held {
			w.confirm(one)
		} else if one.LeaseEnd == 0 || one.LeaseEnd <= one.Return {
			// Otherwise the hold is in doubt, which only acks bring about.
			w.lose(one)
		}
	case "lost":
		if w.current != nil && w.current.number == one.Hold {
			w.lose(one)
		}
	case "upgrade", "downgrade":
		w.change(one)
	case "write":
		w.lock.writes = append(w.lock.writes, event{action: write, token: one.Token,
			accepted: one.Accepted, highest: one.Highest, call: one.Call, ret: one.Return,
			owner: w.number})
	}
}

func (w *ownerWalk) acquire(one *operation) {
	isReentry := w.current != nil && one.Status == "ok" && one.Hold == w.current.number
	if one.Multi != 0 {
		// While it waits for another member, it may hold this one.
		w.lock.holds = append(w.lock.holds, span{one.Call, one.Return})
	} else if one.Op == "acquire" && !isReentry && (one.Status == "ok" || one.Status == "timed_out") {
		w.lock.waits = append(w.lock.waits, wait{one.Call, one.Return, one.Status == "ok"})
	}
	if one.Status == "lost" {
		w.lose(one)
	}
	if one.Status != "ok" {
		return
	}
	if isReentry {
		w.current.count++
		w.emit(enter, w.current, one)
		w.see(one)
		return
	}
	w.cutOff()
	w.current = &claim{id: w.claims.next, number: one.Hold, token: one.Token, count: 1,
		isWriter: one.Kind != "rw" || one.Mode == "write",
		permits:  one.Permits, capacity: one.Capacity, evidence: one.Return, leaseEnd: one.LeaseEnd}
	w.claims.next++
	w.start = one.Return
	w.current.grantAt, w.current.isOver = len(w.lock.events), one.LeaseEnd == 0
	w.emit(grant, w.current, one)
	w.known[one.Hold] = *w.current
}

func (w *ownerWalk) unlock(one *operation) {
	current := w.current
	switch one.Status {
	case "busy", "invalid_argument", "closed", "forked":
		return
	case "lost", "not_owner":
		w.lose(one)
		return
	}
	if current == nil {
		if one.Status == "ok" {
			w.emit(end, w.find(one.Hold), one)
		}
		return
	}
	if current.count > 1 {
		current.count--
		w.emit(leave, current, one)
		w.see(one)
		return
	}
	if one.Status == "ok" {
		w.finish(one.Call, one.Return)
		return
	}
	// No answer: the release may take effect until the lease ends.
	w.finish(max(current.evidence, min(one.Call, current.leaseEnd)), max(one.Return, current.leaseEnd))
}

func (w *ownerWalk) change(one *operation) {
	current := w.current
	if current == nil || current.number != one.Hold {
		if one.Status == "ok" {
			w.emit(upgrade, w.find(one.Hold), one)
		}
		return
	}
	isRefusal := one.Status == "not_owner" || one.Status == "already_held" || one.Status == "busy"
	if one.Op == "upgrade" && one.Status == "ok" {
		current.grantAt, current.isOver = len(w.lock.events), one.LeaseEnd == 0
		w.emit(upgrade, current, one)
		current.isWriter, current.token, current.evidence = true, one.Token, one.Return
		w.known[current.number] = *current
	} else if one.Op == "downgrade" && !isRefusal && one.Status != "lost" {
		// From the call on the owner only reads, whatever the status.
		w.emit(downgrade, current, one)
		events := w.lock.events
		events[len(events)-1].ret = one.Call
		w.see(one)
		current.isWriter = false
		w.known[current.number] = *current
	}
	if one.Status == "lost" {
		w.lose(one)
	}
}

// confirm notes that the client reports a hold.
func (w *ownerWalk) confirm(one *operation) {
	if w.current == nil || w.current.number != one.Hold {
		w.emit(held, w.find(one.Hold), one)
		return
	}
	w.emit(held, w.current, one)
	w.see(one)
}

func (w *ownerWalk) see(one *operation) {
	w.current.isOver = false
	w.current.evidence = max(w.current.evidence, one.Call)
	w.current.leaseEnd = max(w.current.leaseEnd, one.LeaseEnd)
}

// lose ends the hold by itself: at the lease end, or, if the loss is reported before that, at any
// moment after the client last reported the hold.
func (w *ownerWalk) lose(one *operation) {
	if w.current == nil {
		return
	}
	earliest := w.current.evidence
	if one.Return >= w.current.leaseEnd {
		end := w.current.leaseEnd
		if one.Op == "unlock" || one.Op == "downgrade" {
			// The request may have released before that, with its reply lost.
			end = min(one.Call, end)
		}
		earliest = max(earliest, end)
	}
	w.finish(earliest, one.Return)
}

// cutOff ends a hold of a process that was killed: a release may have been under way.
func (w *ownerWalk) cutOff() {
	if w.current != nil {
		w.finish(w.current.evidence, w.current.leaseEnd)
	}
}

func (w *ownerWalk) finish(earliest, latest int64) {
	latest = max(earliest, latest)
	if w.current.isOver {
		// The process was stopped, or the reply was late: the hold ended before its owner knew of it.
		w.lock.events[w.current.grantAt].action = instant
		w.lock.holds = append(w.lock.holds, span{w.start, latest})
		w.current = nil
		return
	}
	w.lock.events = append(w.lock.events, event{action: end, hold: w.current.id,
		isWriter: w.current.isWriter, permits: w.current.permits, call: earliest, ret: latest,
		owner: w.number})
	w.lock.holds = append(w.lock.holds, span{w.start, latest})
	w.current = nil
}

func (w *ownerWalk) find(number int64) *claim {
	if known, ok := w.known[number]; ok {
		return &known
	}
	return &claim{id: noHold}
}

func (w *ownerWalk) emit(what action, hold *claim, one *operation) {
	isWriter := one.Kind != "rw" || one.Mode == "write"
	w.lock.events = append(w.lock.events, event{action: what, hold: hold.id, isWriter: isWriter,
		isUpgrade: what == upgrade,
		token:     one.Token, ownToken: hold.token, permits: hold.permits, capacity: hold.capacity,
		leaseEnd: one.LeaseEnd, call: one.Call, ret: one.Return, owner: w.number})
}

func max(a, b int64) int64 {
	if a > b {
		return a
	}
	return b
}

func min(a, b int64) int64 {
	if a < b {
		return a
	}
	return b
}
