package main

import (
	"fmt"
	"sort"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// Beyond this a violation is reported without the operation that nothing explains.
const longestExplained = 5000

// A result is what the judge prints.
type result struct {
	Judge         string   `json:"judge"`
	Judgment      string   `json:"judgment"` // ok, violation or unknown
	Reason        string   `json:"reason,omitempty"`
	Liveness      string   `json:"liveness,omitempty"` // ok or late
	Operations    int      `json:"operations"`
	Acquisitions  int      `json:"acquisitions"`
	IsCut         bool     `json:"is_cut"`
	LongestIdleMs int64    `json:"longest_idle_ms"`
	LongestWaitMs int64    `json:"longest_wait_ms"`
	MostPassed    int64    `json:"most_passed"`
	Violations    []string `json:"violations"`
}

const mostViolations = 20

type limits struct {
	idleMs  int64 // the longest idle time of a lock
	waitMs  int64 // the longest wait of an owner
	workers int   // names that are judged at once
	segment int   // operations that Porcupine judges at once, at least
}

// A judge collects the results of names that are judged in parallel.
type judge struct {
	mutex    sync.Mutex
	result   result
	deadline time.Time
	limits   limits
}

func (j *judge) violate(text string) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.result.Judgment = "violation"
	if len(j.result.Violations) < mostViolations {
		j.result.Violations = append(j.result.Violations, text)
	}
}

func (j *judge) giveUp(reason string) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	if j.result.Judgment == "ok" {
		j.result.Judgment, j.result.Reason = "unknown", reason
	}
}

// judgeEvents lets Porcupine judge the events of one name, segment by segment.
func (j *judge) judgeEvents(name string, events []event, rule step) {
	now := free
	for _, segment := range cut(events, j.limits.segment) {
		left := time.Until(j.deadline)
		if left <= 0 {
			j.giveUp("out of time")
			return
		}
		operations := make([]porcupine.Operation, len(segment))
		for i := range segment {
			operations[i] = porcupine.Operation{ClientId: segment[i].owner, Input: &segment[i],
				Call: segment[i].call, Return: segment[i].ret}
		}
		switch porcupine.CheckOperationsTimeout(model(now, rule), operations, left) {
		case porcupine.Unknown:
			j.giveUp("out of time")
			return
		case porcupine.Illegal:
			j.violate(j.explain(name, operations, model(now, rule)))
			// The state is not known any longer.
			return
		}
		now = now.after(segment)
	}
}

// explain names the first operation that no order of some operations explains.
func (j *judge) explain(name string, operations []porcupine.Operation,
	rule porcupine.Model) string {
	text := fmt.Sprintf("%q: no order explains %d operations", name, len(operations))
	if len(operations) > longestExplained {
		return text
	}
	left := time.Until(j.deadline)
	if left <= 0 {
		return text
	}
	_, info := porcupine.CheckOperationsVerbose(rule, operations, left)
	explained := map[*event]bool{}
	for _, partition := range info.PartialLinearizationsOperations() {
		for _, order := range partition {
			for i := range order {
				explained[order[i].Input.(*event)] = true
			}
		}
	}
	var first *event
	for i := range operations {
		one := operations[i].Input.(*event)
		if !explained[one] && (first == nil || one.ret < first.ret) {
			first = one
		}
	}
	if first == nil {
		return text
	}
	return fmt.Sprintf("%s; not explained: %s", text, first.describe())
}

var actionNames = []string{"grant", "reentry", "inner unlock", "end", "report of a hold", "upgrade",
	"downgrade", "write", "grant that ends at once"}

func (one *event) describe() string {
	return fmt.Sprintf("%s with token %d from %d to %d ns", actionNames[one.action], one.token,
		one.call, one.ret)
}

// judgeLock judges one name, and the register that it guards.
func (j *judge) judgeLock(lock *lockHistory, isExclusive bool) {
	if isExclusive {
		j.judgeEvents(lock.name, lock.events, steps[lock.kind])
	} else {
		j.judgeApart(lock)
	}
	j.judgeEvents(lock.name+" (register)", lock.writes, registerStep)
}

// judgeApart is for a deployment or a fault outside the promise, where holds may overlap. Each hold
// is still judged by itself, and no two holds that exclude all others may have one token.
func (j *judge) judgeApart(lock *lockHistory) {
	holds := map[int32][]event{}
	tokens := map[int64]bool{}
	for _, one := range lock.events {
		holds[one.hold] = append(holds[one.hold], one)
		if one.action != grant && one.action != upgrade && one.action != instant {
			continue
		}
		if one.excludesAll() && tokens[one.token] {
			j.violate(fmt.Sprintf("%q: two grants have one token: %s", lock.name, one.describe()))
		}
		tokens[one.token] = true
	}
	for _, events := range holds {
		j.judgeEvents(lock.name, events, steps[lock.kind])
	}
}

// judgeMultis: a multi acquires all members or none, in one call.
func (j *judge) judgeMultis(all []operation) {
	type process struct{ process, client int64 }
	type call struct {
		process
		multi, call int64
	}
	last := map[process]int64{}
	calls := map[call][]operation{}
	for _, one := range all {
		of := process{one.Process, one.Client}
		last[of] = max(last[of], one.Return)
		if one.Multi != 0 && (one.Op == "acquire" || one.Op == "try") {
			key := call{of, one.Multi, one.Call}
			calls[key] = append(calls[key], one)
		}
	}
	for key, members := range calls {
		isCut := int64(len(members)) < members[0].Members && members[0].Return == last[key.process]
		for _, one := range members {
			if !isCut && (int64(len(members)) != one.Members || one.Status != members[0].Status) {
				j.violate(fmt.Sprintf("multi %d at %d ns: %d of %d members have the status %s",
					key.multi, key.call, len(members), one.Members, one.Status))
				break
			}
		}
	}
}

// judgeAll judges a whole history.
func (j *judge) judgeAll(first header, all, faults []operation) {
	found := findClaims(all)
	j.result.Operations = len(all)
	j.judgeMultis(all)
	names := make(chan *lockHistory)
	var done sync.WaitGroup
	var sum liveness
	for i := 0; i < j.limits.workers; i++ {
		done.Add(1)
		go func() {
			defer done.Done()
			for lock := range names {
				measured := measure(lock, faults)
				j.mutex.Lock()
				sum.add(measured)
				for i := range lock.events {
					one := &lock.events[i]
					if one.action == grant || one.action == instant && !one.isUpgrade {
						j.result.Acquisitions++
					}
				}
				j.mutex.Unlock()
				j.judgeLock(lock, first.Exclusive)
			}
		}()
	}
	for _, lock := range found.names {
		names <- lock
	}
	close(names)
	done.Wait()
	const nsPerMs = 1000000
	j.result.LongestIdleMs = sum.longestIdle / nsPerMs
	j.result.LongestWaitMs = sum.longestWait / nsPerMs
	j.result.MostPassed = sum.mostPassed
	j.result.Liveness = "ok"
	if j.result.LongestIdleMs > j.limits.idleMs || j.result.LongestWaitMs > j.limits.waitMs {
		j.result.Liveness = "late"
	}
	sort.Strings(j.result.Violations)
}
