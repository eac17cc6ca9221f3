package mortise

import (
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
)

// descriptorFlags has the flags of a descriptor, if it is open.
func descriptorFlags(descriptor int) (flags uintptr, isOpen bool) {
	flags, _, failed := syscall.RawSyscall(syscall.SYS_FCNTL, uintptr(descriptor), syscall.F_GETFD, 0)
	return flags, failed == 0
}

// A thread of C may start a program at any time, and does not know Go's fork lock. So each
// descriptor has close-on-exec from the start. Another thread checks that all the time.
func TestQueueDescriptorIsNeverInherited(t *testing.T) {
	read, write, err := os.Pipe()
	must(t, err)
	defer read.Close()
	defer write.Close()
	original := int(read.Fd())

	var isOver atomic.Bool
	var latest, looks, inheritable atomic.Int64
	latest.Store(-1)
	ended := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(ended)
		for !isOver.Load() {
			// The next has the number of the last, most likely.
			if flags, isOpen := descriptorFlags(int(latest.Load())); isOpen {
				looks.Add(1)
				if flags&syscall.FD_CLOEXEC == 0 {
					inheritable.Add(1)
				}
			}
		}
	}()
	for round := 0; round < 20000 || looks.Load() < 1000; round++ {
		descriptor, err := duplicate(original)
		must(t, err)
		if flags, isOpen := descriptorFlags(descriptor); !isOpen || flags&syscall.FD_CLOEXEC == 0 {
			t.Fatal("it is not close-on-exec")
		}
		latest.Store(int64(descriptor))
		must(t, syscall.Close(descriptor))
	}
	isOver.Store(true)
	receive(t, "nobody looks any more", ended)
	if count := inheritable.Load(); count > 0 {
		t.Errorf("%d times a child would have inherited it", count)
	}
}

// The same of everything that a client has open.
func TestNoDescriptorIsInherited(t *testing.T) {
	server := startServer(t)
	before := map[int]bool{}
	for descriptor := 0; descriptor < 1024; descriptor++ {
		_, before[descriptor] = descriptorFlags(descriptor)
	}
	client := server.open(t)
	hold, err := client.lock(t, "a").Acquire(within(t))
	must(t, err)
	found := 0
	for descriptor := 0; descriptor < 1024; descriptor++ {
		flags, isOpen := descriptorFlags(descriptor)
		if !isOpen || before[descriptor] {
			continue
		}
		found++
		if flags&syscall.FD_CLOEXEC == 0 {
			target, _ := os.Readlink("/proc/self/fd/" + strconv.Itoa(descriptor))
			t.Errorf("descriptor %d, %s, is inherited by children", descriptor, target)
		}
	}
	if found < 3 { // the socket, the queue's and its duplicate
		t.Errorf("%d descriptors were found", found)
	}
	must(t, hold.Unlock(within(t)))
}
