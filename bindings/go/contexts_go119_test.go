//go:build !go1.21

package mortise

import (
	"context"
	"time"
)

func withDeadlineCause(after time.Duration, _ error) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), after)
}
