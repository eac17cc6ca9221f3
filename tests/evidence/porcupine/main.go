// Judges a history of lock operations with Porcupine. docs/internals/histories.md describes the
// history, the rules and the result.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"
)

const judgeName = "porcupine 1.3.1"

func finish(found result) {
	if found.Violations == nil {
		found.Violations = []string{}
	}
	text, err := json.MarshalIndent(found, "", "  ")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	fmt.Println(string(text))
	switch {
	case found.Judgment == "violation":
		os.Exit(1)
	case found.Judgment == "unknown":
		os.Exit(3)
	case found.Liveness == "late":
		os.Exit(4)
	}
	os.Exit(0)
}

// checkMemory ends the process with "unknown" before the machine runs out of memory.
func checkMemory(one *judge, limit uint64) {
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	if now.HeapAlloc > limit {
		one.giveUp("out of memory")
		one.mutex.Lock()
		finish(one.result)
	}
}

func watchMemory(one *judge, limit uint64) {
	for {
		checkMemory(one, limit)
		time.Sleep(100 * time.Millisecond)
	}
}

func main() {
	seconds := flag.Float64("seconds", 600, "give up after this time")
	memory := flag.Uint64("memory", 4096, "give up beyond this many MiB")
	var given limits
	flag.Int64Var(&given.idleMs, "idle", 10000, "the longest idle time in ms that is in time")
	flag.Int64Var(&given.waitMs, "wait", 30000, "the longest wait in ms that is in time")
	flag.IntVar(&given.workers, "workers", runtime.NumCPU(), "names that are judged at once")
	flag.IntVar(&given.segment, "segment", 1000, "operations that are judged at once, at least")
	flag.Parse()
	one := &judge{deadline: time.Now().Add(time.Duration(*seconds * float64(time.Second))),
		limits: given}
	one.result = result{Judge: judgeName, Judgment: "ok"}
	go watchMemory(one, *memory<<20)
	first, all, faults, isCut, err := readHistory(os.Stdin)
	if err != nil {
		finish(result{Judge: judgeName, Judgment: "unknown", Reason: err.Error()})
	}
	checkMemory(one, *memory<<20)
	one.result.IsCut = isCut
	one.judgeAll(first, all, faults)
	finish(one.result)
}
