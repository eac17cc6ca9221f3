package main

import (
	"encoding/binary"

	"github.com/anishathalye/porcupine"
)

// The state of a lock, and of the register that it guards. It says nothing about time: a hold that
// ends by itself does so in an event of its own, which findClaims places.
type state struct {
	writer        int32  // the hold of a mutex or a writer
	count         int32  // how often a reentrant owner has acquired
	sharers       string // the holds of readers and permits, four bytes each, in order
	inUse         int64  // permits
	highest       int64  // token of a grant, or of a write
	highestWriter int64  // token of a grant that excludes all others
}

var free = state{writer: noHold}

func key(hold int32) string {
	var bytes [4]byte
	binary.BigEndian.PutUint32(bytes[:], uint32(hold))
	return string(bytes[:])
}

func place(set string, hold int32) (int, bool) {
	member := key(hold)
	at := 0
	for at < len(set) && set[at:at+4] < member {
		at += 4
	}
	return at, at < len(set) && set[at:at+4] == member
}

func with(set string, hold int32) string {
	at, _ := place(set, hold)
	return set[:at] + key(hold) + set[at:]
}

func without(set string, hold int32) string {
	at, isMember := place(set, hold)
	if !isMember {
		return set
	}
	return set[:at] + set[at+4:]
}

func has(set string, hold int32) bool {
	_, isMember := place(set, hold)
	return isMember
}

// The library rounds the end of a lease down to a multiple of this.
const roundingNs = 1024

// isHonest: the client reported the hold before its deadline, and with the token of the grant.
func isHonest(one *event) bool {
	return (one.leaseEnd == 0 || one.call < one.leaseEnd+roundingNs) && one.token == one.ownToken
}

// mutexStep: one owner, which may enter again. The token of a grant is above the highest seen.
func mutexStep(now state, one *event) (bool, state) {
	isHolder := now.writer == one.hold && one.hold != noHold
	switch one.action {
	case grant:
		if now.writer != noHold || one.token <= now.highest {
			return false, now
		}
		return true, state{writer: one.hold, count: 1, highest: one.token}
	case enter:
		if !isHolder || one.token != one.ownToken {
			return false, now
		}
		now.count++
		return true, now
	case leave:
		now.count--
		return isHolder && now.count > 0, now
	case end:
		now.writer, now.count = noHold, 0
		return isHolder, now
	case held:
		return isHolder && isHonest(one), now
	}
	return false, now
}

// rwStep: readers together, or one writer. The token of a reader is above that of each earlier
// writer, and the token of a writer above all.
func rwStep(now state, one *event) (bool, state) {
	isWriter := now.writer == one.hold && one.hold != noHold
	isReader := has(now.sharers, one.hold)
	switch one.action {
	case grant:
		if now.writer != noHold {
			return false, now
		}
		if one.isWriter {
			return now.sharers == "" && one.token > now.highest,
				state{writer: one.hold, highest: one.token, highestWriter: one.token}
		}
		now.sharers = with(now.sharers, one.hold)
		isAbove := one.token > now.highestWriter
		now.highest = max(now.highest, one.token)
		return isAbove, now
	case upgrade:
		return now.sharers == key(one.hold) && one.token > now.highest,
			state{writer: one.hold, highest: one.token, highestWriter: one.token}
	case downgrade:
		now.writer, now.sharers = noHold, with(now.sharers, one.hold)
		return isWriter, now
	case end:
		if isWriter {
			now.writer = noHold
			return true, now
		}
		now.sharers = without(now.sharers, one.hold)
		return isReader, now
	case held:
		return (one.isWriter && isWriter || !one.isWriter && isReader) && isHonest(one), now
	}
	return false, now
}

// semaphoreStep: as many permits as the capacity. Tokens order only holds that exclude each other.
func semaphoreStep(now state, one *event) (bool, state) {
	isHolder := has(now.sharers, one.hold)
	switch one.action {
	case grant:
		isWhole := one.permits >= one.capacity
		if now.inUse+one.permits > one.capacity || one.token <= now.highestWriter ||
			isWhole && one.token <= now.highest {
			return false, now
		}
		now.inUse += one.permits
		now.sharers = with(now.sharers, one.hold)
		now.highest = max(now.highest, one.token)
		if isWhole {
			now.highestWriter = one.token
		}
		return true, now
	case end:
		now.inUse -= one.permits
		now.sharers = without(now.sharers, one.hold)
		return isHolder, now
	case held:
		return isHolder && isHonest(one), now
	}
	return false, now
}

// registerStep: a write is accepted unless the register has seen a higher token. A refusal reports
// that token. A process that was killed may have written it without a line in the history.
func registerStep(now state, one *event) (bool, state) {
	if one.accepted {
		isFenced := one.token >= now.highest
		now.highest = one.token
		return isFenced, now
	}
	isRightful := one.highest > one.token && one.highest >= now.highest
	now.highest = one.highest
	return isRightful, now
}

type step func(now state, one *event) (bool, state)

// take also knows a hold that ends as soon as it begins.
func (rule step) take(now state, one *event) (bool, state) {
	if one.action != instant {
		return rule(now, one)
	}
	begin, finish := *one, *one
	begin.action, finish.action = grant, end
	if one.isUpgrade {
		begin.action = upgrade
	}
	isLawful, then := rule(now, &begin)
	if !isLawful {
		return false, now
	}
	return rule(then, &finish)
}

var steps = map[string]step{"mutex": mutexStep, "reentrant": mutexStep, "rw": rwStep,
	"semaphore": semaphoreStep}

func model(initial state, rule step) porcupine.Model {
	return porcupine.Model{
		Init: func() interface{} { return initial },
		Step: func(now, input, _ interface{}) (bool, interface{}) {
			return rule.take(now.(state), input.(*event))
		},
	}
}
