//go:build !go1.21

package mortise

import "context"

// tidied calls what ends a context when that has ended by itself, so that nothing of it is left
// also when nobody else does. Its goroutine ends with it.
func tidied(ctx context.Context, end context.CancelFunc) context.CancelFunc {
	go func() {
		<-ctx.Done()
		end()
	}()
	return end
}
