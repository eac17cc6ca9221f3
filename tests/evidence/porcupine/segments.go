package main

import "sort"

// place is where an event counts when a history is cut: a grant when it returns, an end when it may
// begin to take effect.
func (one *event) place() int64 {
	if one.action == end {
		return one.call
	}
	return one.ret
}

// cut divides the events of one name where the state is known, because the memory of Porcupine
// grows with the square of what it judges at once. Each segment has at least the shortest length.
//
// When all events of a segment have taken effect, its grants and ends say which holds are left, and
// the highest token is their maximum. So a cut loses nothing where no event is open. A grant may be
// open, and then counts after the cut: no rule makes a later grant worse. An end may be open, and
// then counts before the cut: no rule needs a later end.
func cut(events []event, shortest int) [][]event {
	sort.SliceStable(events, func(i, j int) bool { return events[i].place() < events[j].place() })
	// For each event, the earliest call from there on of the events that may not be open.
	calls := make([]int64, len(events)+1)
	calls[len(events)] = 1<<63 - 1
	for i := len(events) - 1; i >= 0; i-- {
		calls[i] = calls[i+1]
		if events[i].action != grant && events[i].action != end {
			calls[i] = min(calls[i], events[i].call)
		}
	}
	var segments [][]event
	last := int64(0)
	for begin := 0; begin < len(events); {
		stop := begin + 1
		for stop < len(events) && (stop-begin < shortest ||
			calls[stop] <= events[stop-1].place() ||
			events[stop].place() == events[stop-1].place()) {
			stop++
		}
		segment := events[begin:stop]
		next := segment[len(segment)-1].place()
		for i := range segment {
			segment[i].call = max(segment[i].call, last)
			if stop < len(events) {
				segment[i].ret = min(segment[i].ret, next)
			}
		}
		segments = append(segments, segment)
		begin, last = stop, next
	}
	return segments
}

// after returns the state when all events of a lawful segment have taken effect.
func (now state) after(segment []event) state {
	for i := range segment {
		now = now.afterOne(&segment[i])
	}
	return now
}

func (now state) afterOne(one *event) state {
	switch one.action {
	case grant, upgrade:
		now.highest = max(now.highest, one.token)
		if one.excludesAll() {
			now.highestWriter = max(now.highestWriter, one.token)
		}
		now.sharers = without(now.sharers, one.hold)
		if one.capacity == 0 && (one.isWriter || one.action == upgrade) {
			now.writer, now.count = one.hold, 1
		} else {
			now.sharers = with(now.sharers, one.hold)
		}
		now.inUse += one.permits
	case instant:
		// It may have come before the grant of a hold that is left.
		now.highest = max(now.highest, one.token)
		if one.excludesAll() {
			now.highestWriter = max(now.highestWriter, one.token)
		}
		now.sharers = without(now.sharers, one.hold)
	case enter:
		now.count++
	case leave:
		now.count--
	case downgrade:
		now.writer, now.count = noHold, 0
		now.sharers = with(now.sharers, one.hold)
	case end:
		if now.writer == one.hold {
			now.writer, now.count = noHold, 0
		}
		now.sharers = without(now.sharers, one.hold)
		now.inUse -= one.permits
	case write:
		now.highest = max(now.highest, one.highest)
		if one.accepted {
			now.highest = max(now.highest, one.token)
		}
	}
	return now
}

// excludesAll: a mutex, a writer, and a hold of all permits.
func (one *event) excludesAll() bool {
	if one.capacity > 0 {
		return one.permits >= one.capacity
	}
	return one.isWriter || one.action == upgrade
}
