module github.com/mortise/mortise-go/bench/contention

go 1.19
