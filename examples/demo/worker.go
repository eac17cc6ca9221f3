// The demo's worker in Go: worker.c has the contract, and the same order of reading.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mortise/mortise-go"
)

type worker struct {
	folder string
	end    time.Time
	pause  time.Duration
	isSafe bool
	client *mortise.Client
	lock   *mortise.Lock
	count  int64
}

// From half of the average to one and a half.
func (w *worker) takeAPause() {
	time.Sleep(time.Duration(float64(w.pause) * (0.5 + rand.Float64())))
}

// ---- the store: see store.h ----------------------------------------------------------------

type value struct {
	number, token int64
}

func readValue(file *os.File) (value, error) {
	var read value
	line := make([]byte, 160)
	length, err := file.ReadAt(line, 0)
	if err != nil && err != io.EOF {
		return read, err
	}
	_, err = fmt.Sscan(string(line[:length]), &read.number, &read.token)
	return read, err
}

func (w *worker) read() (value, error) {
	file, err := os.Open(filepath.Join(w.folder, "number"))
	if err != nil {
		return value{}, err
	}
	defer file.Close()
	return readValue(file)
}

func (w *worker) appendRecord(format string, values ...any) error {
	file, err := os.OpenFile(filepath.Join(w.folder, "writes"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = fmt.Fprintf(file, format, values...)
	return err
}

func lockWhole(file *os.File) error {
	whole := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart}
	for {
		err := syscall.FcntlFlock(file.Fd(), syscall.F_SETLKW, &whole)
		if err != syscall.EINTR {
			return err
		}
	}
}

// Write returns what stood there; the value was refused when that had a higher token.
func (w *worker) write(next value) (value, error) {
	file, err := os.OpenFile(filepath.Join(w.folder, "number"), os.O_RDWR, 0)
	if err != nil {
		return value{}, err
	}
	defer file.Close()
	if err := lockWhole(file); err != nil {
		return value{}, err
	}
	present, err := readValue(file)
	if err != nil {
		return present, err
	}
	if w.isRefused(next, present) {
		return present, w.appendRecord("refused %d %d %d %d\n",
			os.Getpid(), next.number, next.token, present.token)
	}
	err = w.appendRecord("wrote %d %d %d\n", os.Getpid(), next.number, next.token)
	if err != nil {
		return present, err
	}
	_, err = file.WriteAt([]byte(fmt.Sprintf("%20d %20d\n", next.number, next.token)), 0)
	return present, err
}

func (w *worker) isRefused(next, present value) bool {
	return w.isSafe && next.token < present.token
}

// ---- the work ------------------------------------------------------------------------------

func (w *worker) openLock(url, name string, lease time.Duration) (err error) {
	w.client, err = mortise.Open(context.Background(), url, mortise.WithLease(lease))
	if err != nil {
		return err
	}
	w.lock, err = w.client.NewLock(name)
	return err
}

func (w *worker) increment(token int64) error {
	fmt.Printf("held %d\n", token)
	read, err := w.read()
	if err != nil {
		return fmt.Errorf("reading the number: %w", err)
	}
	w.takeAPause()
	expected := value{read.number + 1, token}
	present, err := w.write(expected)
	if err != nil {
		return fmt.Errorf("writing the number: %w", err)
	}
	if w.isRefused(expected, present) {
		fmt.Printf("refused %d %d %d\n", expected.number, token, present.token)
		return nil
	}
	w.count++
	fmt.Printf("wrote %d %d\n", expected.number, token)
	return nil
}

// One turn: false when the time is up.
func (w *worker) takeTurn() (bool, error) {
	if !time.Now().Before(w.end) {
		return false, nil
	}
	if !w.isSafe {
		return true, w.increment(0)
	}

	ctx, cancel := context.WithDeadline(context.Background(), w.end)
	defer cancel()
	hold, err := w.lock.Acquire(ctx)
	if errors.Is(err, mortise.ErrTimedOut) || errors.Is(err, mortise.ErrNotAcquired) {
		return false, nil
	}
	// The time was up between the request and its reply: the library releases the lock.
	if errors.Is(err, mortise.ErrUnknown) && !time.Now().Before(w.end) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("acquire: %w", err)
	}
	if err := w.increment(hold.Token()); err != nil {
		return false, err
	}
	err = hold.Unlock(context.Background())
	if err != nil && !errors.Is(err, mortise.ErrLost) {
		return false, fmt.Errorf("unlock: %w", err)
	}
	word := "free"
	if err != nil {
		word = "lost"
	}
	fmt.Printf("%s %d\n", word, hold.Token())
	return true, nil
}

func milliseconds(text string) (time.Duration, error) {
	number, err := strconv.ParseInt(text, 10, 64)
	return time.Duration(number) * time.Millisecond, err
}

func work(arguments []string) error {
	var times [3]time.Duration
	for i := range times {
		var err error
		if times[i], err = milliseconds(arguments[3+i]); err != nil {
			return err
		}
	}
	w := worker{folder: arguments[2], pause: times[2], isSafe: arguments[6] != "unsafe"}
	if w.isSafe {
		if err := w.openLock(arguments[0], arguments[1], times[1]); err != nil {
			return fmt.Errorf("start: %w", err)
		}
		defer w.client.Close()
	}
	fmt.Println("ready")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	w.end = time.Now().Add(times[0])
	for {
		if goesOn, err := w.takeTurn(); err != nil {
			return err
		} else if !goesOn {
			break
		}
	}
	fmt.Printf("done %d\n", w.count)
	return nil
}

func main() {
	if len(os.Args) != 8 {
		fmt.Fprintln(os.Stderr, "usage: worker URL LOCK FOLDER RUN_MS LEASE_MS PAUSE_MS safe|unsafe")
		os.Exit(2)
	}
	if err := work(os.Args[1:]); err != nil {
		fmt.Println("failed", strings.SplitN(err.Error(), "\n", 2)[0])
		os.Exit(1)
	}
}
