package mortise

import (
	"hash/maphash"
	"sync/atomic"
)

const (
	// vainTries is how many acquires do not try first after one that tried in vain.
	vainTries = 16
	// contendedPlaces is for how many names that is remembered; who share a place take a detour at
	// most.
	contendedPlaces = 1024
)

// contention remembers which names were taken when they were tried, whichever handle it was, as an
// owner may be made for each request.
type contention struct {
	seed   maphash.Seed
	places [contendedPlaces]atomic.Int32 // for how many acquires to come
}

func newContention() *contention { return &contention{seed: maphash.MakeSeed()} }

func (c *contention) of(name string) *atomic.Int32 {
	return &c.places[maphash.String(c.seed, name)%contendedPlaces]
}

// isTaken tells whether the name was taken lately, so that a try would be in vain; counted per
// look.
func (h *handle) isTaken() bool {
	return h.vain != nil && h.vain.Load() > 0 && h.vain.Add(-1) >= 0
}

// taken takes note of a try in vain.
func (h *handle) taken() {
	if h.vain != nil {
		h.vain.Store(vainTries)
	}
}
