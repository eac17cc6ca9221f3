package mortise

import (
	"time"

	"github.com/mortise/mortise-go/internal/swig"
)

// Info is the state of a lock at the server at the time of the query. Use Hold.IsHeld to decide
// whether to act.
type Info struct {
	// IsHeld reports whether any owner held the lock, and IsMine whether the querying handle did.
	IsHeld, IsMine bool
	// TimeLeft is the time until the holder's lease ends at the server. It is -1 ms without a
	// holder.
	TimeLeft time.Duration
	// LatestToken is the newest fencing token of the database.
	LatestToken int64
	// HolderCount and WaiterCount count all. Holders and Waiters list at most 16 of each.
	HolderCount, WaiterCount int64
	// Permits and PermitsInUse describe a semaphore. Permits is 1 for a Lock and 0 for a RW.
	Permits, PermitsInUse int64
	// Holders and Waiters are in their order.
	Holders, Waiters []Person
}

// Person is one holder or waiter.
type Person struct {
	// Owner is the owner token as the server stores it.
	Owner string
	// Label is the handle's label. Host and PID identify its process, and are empty and 0 when
	// unknown.
	Label, Host string
	PID         int64
	// Value is what the holder has set with SetValue or WithValue.
	Value string
	// IsExclusive reports whether the hold excludes all others: a Lock, or a writer.
	IsExclusive bool
	// Permits is the number of permits of a semaphore, otherwise 1.
	Permits int64
	// IsRetained reports that the holder has unlocked and its client keeps the lock for its next
	// acquire; see WithRetain.
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
			Value:       swig.Text(swig.Info_entry_value(info, index)),
			PID:         swig.Info_entry_pid(info, index),
			IsExclusive: swig.Info_entry_is_exclusive(info, index) != 0,
			Permits:     swig.Info_entry_permits(info, index),
			IsRetained:  swig.Info_entry_is_retained(info, index) != 0,
		}
	}
	holders := swig.Info_shown_holder_count(info)
	read.Holders, read.Waiters = people[:holders], people[holders:]
	return read
}
