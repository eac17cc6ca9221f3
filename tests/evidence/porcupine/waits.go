package main

import "sort"

// A wait is an acquire that waited until its grant or its timeout.
type wait struct {
	call, ret int64
	isGranted bool
}

// Liveness, which Porcupine does not check.
type liveness struct {
	longestIdle int64 // of a lock that nobody holds while an owner waits
	longestWait int64 // of an owner that later callers pass
	mostPassed  int64 // how many passed one owner
}

func (sum *liveness) add(more liveness) {
	sum.longestIdle = max(sum.longestIdle, more.longestIdle)
	sum.longestWait = max(sum.longestWait, more.longestWait)
	sum.mostPassed = max(sum.mostPassed, more.mostPassed)
}

// measure looks at one name. An idle time counts from the end of the last server fault on.
func measure(lock *lockHistory, faults []operation) liveness {
	found := liveness{longestIdle: longestIdle(lock, faults)}
	waits := append([]wait(nil), lock.waits...)
	sort.Slice(waits, func(i, j int) bool { return waits[i].call < waits[j].call })
	rank := make([]int, len(waits)) // by return
	for i := range rank {
		rank[i] = i
	}
	sort.Slice(rank, func(i, j int) bool { return waits[rank[i]].ret < waits[rank[j]].ret })
	granted := newTree(len(waits))
	total := int64(0)
	for _, i := range rank {
		passed := total - granted.sum(i)
		found.mostPassed = max(found.mostPassed, passed)
		if passed > 0 {
			found.longestWait = max(found.longestWait, waits[i].ret-waits[i].call)
		}
		if waits[i].isGranted {
			granted.add(i)
			total++
		}
	}
	return found
}

// A change of how many hold and how many wait.
type change struct{ at, holders, waiters int64 }

func longestIdle(lock *lockHistory, faults []operation) int64 {
	changes := make([]change, 0, 2*(len(lock.holds)+len(lock.waits)+len(faults)))
	for _, one := range lock.holds {
		changes = append(changes, change{one.from, 1, 0}, change{one.to, -1, 0})
	}
	for _, one := range lock.waits {
		changes = append(changes, change{one.call, 0, 1}, change{one.ret, 0, -1})
	}
	for _, one := range faults {
		changes = append(changes, change{one.Call, 1, 0}, change{one.Return, -1, 0})
	}
	sort.Slice(changes, func(i, j int) bool { return changes[i].at < changes[j].at })
	longest, begin := int64(0), int64(0)
	var holders, waiters int64
	isIdle := false
	for i, one := range changes {
		holders += one.holders
		waiters += one.waiters
		if i+1 < len(changes) && changes[i+1].at == one.at {
			continue
		}
		if isIdle {
			longest = max(longest, one.at-begin)
		}
		isIdle = holders == 0 && waiters > 0
		if isIdle {
			begin = one.at
		}
	}
	return longest
}

// A tree of sums over places, after Fenwick.
type tree []int64

func newTree(size int) tree { return make(tree, size+1) }

func (t tree) add(place int) {
	for i := place + 1; i < len(t); i += i & -i {
		t[i]++
	}
}

// sum of the places up to this one.
func (t tree) sum(place int) int64 {
	total := int64(0)
	for i := place + 1; i > 0; i -= i & -i {
		total += t[i]
	}
	return total
}
