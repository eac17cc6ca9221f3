package mortise

import (
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

// Info is what the server knew of a lock when it was asked. To decide whether to act, use
// Hold.IsHeld.
type Info struct {
	// IsHeld tells whether anybody held it, and IsMine whether the asking handle did.
	IsHeld, IsMine bool
	// TimeLeft is the time until the holder's lease ends at the server; -1 ms when nobody holds.
	TimeLeft time.Duration
	// LatestToken is the newest fencing token of the database.
	LatestToken int64
	// HolderCount and WaiterCount are of all; Holders and Waiters show 16 of each at most.
	HolderCount, WaiterCount int64
	// Permits and PermitsInUse are of a semaphore; a Lock has one, a RW none.
	Permits, PermitsInUse int64
	// Holders and Waiters are in their order.
	Holders, Waiters []Person
}

// Person is one who holds or waits.
type Person struct {
	// Owner is how the server stores it.
	Owner string
	// Label is the handle's; Host and PID are of the process, empty and 0 when unknown.
	Label, Host string
	PID         int64
	// IsExclusive tells that it is for the whole lock: a Lock, or to write.
	IsExclusive bool
	// Weight is how many permits of a semaphore; else 1.
	Weight int64
	// IsRetained tells that the client of a holder has unlocked and keeps the lock for its next
	// acquire, by WithRetain.
	IsRetained bool
}

func readInfo(info uintptr) *Info {
	read := &Info{
		IsHeld:       swig.Info_is_held(info) != 0,
		IsMine:       swig.Info_is_mine(info) != 0,
		TimeLeft:     time.Duration(swig.Info_time_left_ms(info)) * time.Millisecond,
		LatestToken:  swig.Info_latest_token(info),
		HolderCount:  swig.Info_holder_count(info),
		WaiterCount:  swig.Info_waiter_count(info),
		Permits:      swig.Info_permits(info),
		PermitsInUse: swig.Info_permits_in_use(info),
	}
	people := make([]Person, swig.Info_entry_count(info))
	for i := range people {
		index := int64(i)
		people[i] = Person{
			Owner:       swig.Text(swig.Info_entry_owner(info, index)),
			Label:       swig.Text(swig.Info_entry_label(info, index)),
			Host:        swig.Text(swig.Info_entry_host(info, index)),
			PID:         swig.Info_entry_pid(info, index),
			IsExclusive: swig.Info_entry_is_exclusive(info, index) != 0,
			Weight:      swig.Info_entry_weight(info, index),
			IsRetained:  swig.Info_entry_is_retained(info, index) != 0,
		}
	}
	holders := swig.Info_shown_holder_count(info)
	read.Holders, read.Waiters = people[:holders], people[holders:]
	return read
}
