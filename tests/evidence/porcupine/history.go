package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// An operation is one line of a history. docs/internals/histories.md describes its fields.
type operation struct {
	Process  int64  `json:"process"`
	Client   int64  `json:"client"`
	Owner    int64  `json:"owner"`
	Kind     string `json:"kind"`
	Name     string `json:"name"`
	Op       string `json:"op"`
	Mode     string `json:"mode"`
	Status   string `json:"status"`
	Call     int64  `json:"call_ns"`
	Return   int64  `json:"return_ns"`
	Token    int64  `json:"token"`
	Hold     int64  `json:"hold"`
	LeaseEnd int64  `json:"lease_end_ns"`
	Permits  int64  `json:"permits"`
	Capacity int64  `json:"capacity"`
	Held     bool   `json:"held"`
	Accepted bool   `json:"accepted"`
	Highest  int64  `json:"highest"`
	Multi    int64  `json:"multi"`
	Members  int64  `json:"members"`
}

type header struct {
	Format    string `json:"format"`
	Exclusive bool   `json:"exclusive"`
}

const format = "mortise-history-1"

var kinds = map[string]bool{"mutex": true, "reentrant": true, "rw": true, "semaphore": true}
var operations = map[string]bool{"acquire": true, "try": true, "unlock": true, "extend": true,
	"upgrade": true, "downgrade": true, "is_held": true, "lost": true, "write": true}

// A shared set of the few different texts, so that millions of operations need little memory.
type texts map[string]string

func (known texts) intern(text *string) {
	if same, ok := known[*text]; ok {
		*text = same
	} else {
		known[*text] = *text
	}
}

// readHistory returns the operations, the faults of servers and networks, and whether the last line
// was cut off.
func readHistory(input io.Reader) (first header, all, faults []operation, isCut bool, err error) {
	lines := bufio.NewReaderSize(input, 1<<20)
	known := texts{}
	for number := 1; ; number++ {
		line, readError := lines.ReadBytes('\n')
		if readError != nil {
			// A line without its end was being written when the recorder died.
			isCut = len(line) > 0
			break
		}
		if number == 1 {
			if json.Unmarshal(line, &first) != nil || first.Format != format {
				return first, nil, nil, false, fmt.Errorf("line 1: the format is not %s", format)
			}
			continue
		}
		var one operation
		if err := json.Unmarshal(line, &one); err != nil {
			return first, nil, nil, false, fmt.Errorf("line %d: %v", number, err)
		}
		for _, text := range []*string{&one.Kind, &one.Name, &one.Op, &one.Mode, &one.Status} {
			known.intern(text)
		}
		if one.Op == "fault" {
			if one.Kind != "client" {
				faults = append(faults, one)
			}
			continue
		}
		if !operations[one.Op] || !kinds[one.Kind] || one.Return < one.Call {
			return first, nil, nil, false, fmt.Errorf("line %d: not an operation", number)
		}
		all = append(all, one)
	}
	if first.Format == "" {
		return first, nil, nil, false, fmt.Errorf("line 1: the format is not %s", format)
	}
	return first, all, faults, isCut, nil
}
