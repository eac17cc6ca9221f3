// Package contention is what the competitors in Go have in common; the contract is in competitor.c.
package contention

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"sync"
	"time"
)

// Lock is a waiter's own.
type Lock interface {
	// Acquire waits; it returns false if the library has given up and should be asked again.
	Acquire() (bool, error)
	Release() error
	// Lost ends when the library reports the loss of the lock. It is nil if the library reports none.
	Lost() <-chan struct{}
}

type results struct {
	Counts     []int64 `json:"counts"`
	Waits      []int64 `json:"waits_us"`
	Unfinished []int64 `json:"unfinished_us"`
	Handoffs   int64   `json:"handoffs"`
	Overlaps   int64   `json:"overlaps"`
	Errors     int64   `json:"errors"`
	Error      string  `json:"error"`
}

type competitor struct {
	section time.Duration
	check   *os.File
	end     time.Time

	mutex sync.Mutex // over all that follows
	since []time.Time
	results
}

// Main is the program; open connects to the address and returns what makes a waiter's lock.
func Main(arguments []string, open func(address string) func(name string) Lock) {
	if len(arguments) != 7 {
		log.Fatal("competitor: MODE ADDRESS NAME WAITERS SECTION_US SECONDS CHECK")
	}
	mode, name := arguments[0], arguments[2]
	newLock := open(arguments[1])
	locks := make([]Lock, number(arguments[3]))
	for i := range locks {
		if mode == "many" {
			locks[i] = newLock(fmt.Sprint(name, "-", i))
		} else {
			locks[i] = newLock(name)
		}
	}
	warmUp(newLock(fmt.Sprint("warm-up-", os.Getpid())))
	fmt.Println("ready")
	input := bufio.NewReader(os.Stdin)
	input.ReadString('\n')
	section := time.Duration(number(arguments[4])) * time.Microsecond
	if mode == "work" {
		for i, lock := range locks {
			go work(int64(os.Getpid())<<16+int64(i)+1, lock, section)
		}
		select {}
	}
	if mode != "contend" {
		if mode != "many" {
			locks = locks[:1]
		}
		for _, lock := range locks {
			acquire(lock)
		}
		fmt.Println(map[string]string{"hold": "held", "take": "taken", "many": "held"}[mode])
		select {}
	}
	s := &competitor{section: section}
	if arguments[6] != "-" {
		var err error
		s.check, err = os.OpenFile(arguments[6], os.O_RDWR, 0)
		must(err)
	}
	seconds, err := strconv.ParseFloat(arguments[5], 64)
	must(err)
	s.run(locks, time.Duration(seconds*float64(time.Second)))
	io.Copy(io.Discard, input)
	os.Exit(0)
}

func must(err error) {
	if err != nil {
		log.Fatal("competitor: ", err)
	}
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	must(err)
	return value
}

func acquire(lock Lock) {
	for {
		ok, err := lock.Acquire()
		must(err)
		if ok {
			return
		}
	}
}

// work writes each line with one call, so lines of several processes are in their true order.
func work(id int64, lock Lock, section time.Duration) {
	for {
		ok, err := lock.Acquire()
		if err != nil {
			fmt.Fprintf(os.Stdout, "failed %d %s\n", id, err)
			time.Sleep(10 * time.Millisecond)
		}
		if !ok {
			continue
		}
		fmt.Fprintf(os.Stdout, "enter %d\n", id)
		select {
		case <-time.After(section):
		case <-lock.Lost():
		}
		fmt.Fprintf(os.Stdout, "leave %d\n", id)
		if err := lock.Release(); err != nil {
			fmt.Fprintf(os.Stdout, "failed %d %s\n", id, err)
		}
	}
}

func warmUp(lock Lock) {
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		acquire(lock)
		must(lock.Release())
	}
}

func (s *competitor) run(locks []Lock, length time.Duration) {
	s.Counts = make([]int64, len(locks))
	s.since = make([]time.Time, len(locks))
	s.Waits, s.Unfinished = []int64{}, []int64{}
	s.end = time.Now().Add(length)
	for i, lock := range locks {
		go s.contend(i, lock)
	}
	time.Sleep(time.Until(s.end))
	// From now on they record nothing.
	s.mutex.Lock()
	for _, since := range s.since {
		if !since.IsZero() && since.Before(s.end) {
			s.Unfinished = append(s.Unfinished, s.end.Sub(since).Microseconds())
		}
	}
	line, err := json.Marshal(s.results)
	must(err)
	fmt.Println(string(line))
}

func (s *competitor) contend(i int, lock Lock) {
	id := int64(os.Getpid())<<16 + int64(i) + 1
	for {
		start := time.Now()
		if !start.Before(s.end) {
			return
		}
		s.setSince(i, start)
		for {
			ok, err := lock.Acquire()
			s.countError(err)
			if ok {
				break
			}
			if !time.Now().Before(s.end) {
				return
			}
		}
		got := time.Now()
		overlaps, isHandoff := s.enter(id)
		if s.section > 0 {
			time.Sleep(s.section)
		}
		overlaps = s.leave(id) || overlaps
		s.record(i, start, got, overlaps, isHandoff)
		s.countError(lock.Release())
	}
}

func (s *competitor) setSince(i int, when time.Time) {
	s.mutex.Lock()
	s.since[i] = when
	s.mutex.Unlock()
}

func (s *competitor) countError(err error) {
	if err == nil || !time.Now().Before(s.end) {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.Errors == 0 {
		s.Error = err.Error()
	}
	s.Errors++
}

func (s *competitor) record(i int, start, got time.Time, overlaps, isHandoff bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.since[i] = time.Time{}
	if !got.Before(s.end) {
		return
	}
	s.Counts[i]++
	s.Waits = append(s.Waits, got.Sub(start).Microseconds())
	if overlaps {
		s.Overlaps++
	}
	if isHandoff {
		s.Handoffs++
	}
}

func (s *competitor) enter(id int64) (overlaps, isHandoff bool) {
	if s.check == nil {
		return false, false
	}
	var numbers [16]byte
	_, err := s.check.ReadAt(numbers[:], 0)
	must(err)
	overlaps = binary.LittleEndian.Uint64(numbers[:]) != 0
	isHandoff = binary.LittleEndian.Uint64(numbers[8:]) != uint64(id)
	binary.LittleEndian.PutUint64(numbers[:], uint64(id))
	binary.LittleEndian.PutUint64(numbers[8:], uint64(id))
	_, err = s.check.WriteAt(numbers[:], 0)
	must(err)
	return overlaps, isHandoff
}

func (s *competitor) leave(id int64) (overlaps bool) {
	if s.check == nil {
		return false
	}
	var numbers [8]byte
	_, err := s.check.ReadAt(numbers[:], 0)
	must(err)
	overlaps = binary.LittleEndian.Uint64(numbers[:]) != uint64(id)
	_, err = s.check.WriteAt(make([]byte, 8), 0)
	must(err)
	return overlaps
}
