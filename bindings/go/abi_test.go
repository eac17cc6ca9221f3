package mortise

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Functions of the ABI that are not called by name here, and the reasons.
var notCalled = map[string]string{
	"version":          "Version gives the text",
	"get_api":          "it is for dlopen",
	"queue_wake":       "nobody waits without an end",
	"queue_next":       drained,
	"queue_next_batch": drained,
	"lock_name":        "the handle knows it",
	"rw_name":          "the handle knows it",
	"semaphore_name":   "the handle knows it",
	"election_name":    "the handle knows it",
	"multi_watch":      "each member is watched by its own handle",
	"event_kind":       drained,
	"event_tag":        drained,
	"event_status":     drained,
	"event_token":      drained,

	"event_hold_number": drained,

	"client_watch_locks":  listened,
	"event_lock_kind":     listened,
	"event_handle_number": listened,
	"event_time_us":       listened,
	"event_lasted_us":     listened,

	"hold_id_name":           ofCommand,
	"hold_id_kind":           ofCommand,
	"hold_id_capacity":       ofCommand,
	"hold_id_valid_until_ms": ofCommand,

	"lock_unlock":       byNumber,
	"rw_read_unlock":    byNumber,
	"rw_write_unlock":   byNumber,
	"semaphore_release": byNumber,
	"multi_unlock":      byNumber,

	"lock_unlock_async":       byNumber,
	"rw_read_unlock_async":    byNumber,
	"rw_write_unlock_async":   byNumber,
	"semaphore_release_async": byNumber,
	"multi_unlock_async":      byNumber,
	"election_resign":         byNumber,
	"election_resign_async":   byNumber,
}

const (
	drained   = "mortise_go_drain in go.i does it for many events at once"
	ofCommand = "the command makes the handle that an id is for"
	byNumber  = "a Hold ends by its number, which ends no later one"
	listened  = "Listener reports with the context of the caller"
)

// The options of the header that no With function sets, and why.
var notSet = map[string]string{
	"release_at_exit": "the end of a Go program calls no exit handler of C",
}

// A new key of the header needs a With function, or a reason.
func TestEveryOptionHasItsWith(t *testing.T) {
	header, err := os.ReadFile("../../capi/include/mortise/mortise.h")
	must(t, err)
	source, err := os.ReadFile("options.go")
	must(t, err)
	keys := regexp.MustCompile(`#define MORTISE_OPTION_\w+ "(\w+)"`).
		FindAllStringSubmatch(string(header), -1)
	if len(keys) < 19 {
		t.Fatalf("%d keys of options in the header", len(keys))
	}
	for _, match := range keys {
		key := match[1]
		constant := "option"
		for _, word := range strings.Split(key, "_") {
			constant += strings.ToUpper(word[:1]) + word[1:]
		}
		// By its constant, or by the setter of C, which may have a unit at its end.
		isSet := regexp.MustCompile(`func With[^{]*\{[^}]*?\b(` + constant + `|swig\.Options_set_` + key +
			`(_ms|_ppm|_strict)?)\b`).Match(source)
		if reason := notSet[key]; isSet == (reason != "") {
			t.Errorf("option %s: set by a With function %v, and the reason not to is %q", key, isSet, reason)
		}
	}
}

// Each function of the header is called by this package, blocking or not, or has a reason not to
// be.
func TestEveryFunctionHasItsCounterpart(t *testing.T) {
	header, err := os.ReadFile("../../capi/include/mortise/mortise.h")
	must(t, err)
	files, err := filepath.Glob("*.go")
	must(t, err)
	var sources strings.Builder
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			source, err := os.ReadFile(file)
			must(t, err)
			sources.Write(source)
		}
	}
	called := map[string]bool{}
	calls := regexp.MustCompile(`swig\.(\w+)`)
	for _, match := range calls.FindAllStringSubmatch(sources.String(), -1) {
		called[strings.ToLower(match[1])] = true
	}
	functions := regexp.MustCompile(`MORTISE_API [^(;]*?\bmortise_(\w+)\(`).
		FindAllStringSubmatch(string(header), -1)
	if len(functions) < 100 {
		t.Fatalf("%d functions in the header", len(functions))
	}
	for _, match := range functions {
		name := match[1]
		isCalled := called[name] || called[name+"_async"]
		if reason := notCalled[name]; isCalled == (reason != "") {
			t.Errorf("mortise_%s: called %v, and the reason not to is %q", name, isCalled, reason)
		}
	}
}
