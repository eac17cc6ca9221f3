package mortise

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What of the ABI is not called by name here, and why.
var notCalled = map[string]string{
	"version":          "Version gives the text",
	"get_api":          "it is for dlopen",
	"queue_wake":       "nobody waits without an end",
	"queue_next":       drained,
	"queue_next_batch": drained,
	"lock_name":        "the handle knows it",
	"rw_name":          "the handle knows it",
	"semaphore_name":   "the handle knows it",
	"event_get_kind":   drained,
	"event_tag":        drained,
	"event_status":     drained,
	"event_token":      drained,
}

const drained = "mortise_go_drain in go.i does it for many events at once"

// Each function of the header is called by this package, blocking or not, or has a reason not to be.
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
	for _, match := range regexp.MustCompile(`swig\.(\w+)`).FindAllStringSubmatch(sources.String(), -1) {
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
