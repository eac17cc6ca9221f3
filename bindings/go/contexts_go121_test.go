//go:build go1.21

package mortise

import (
	"context"
	"time"
)

func withDeadlineCause(after time.Duration, cause error) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.Background(), after, cause)
}
