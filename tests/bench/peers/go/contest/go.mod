module github.com/mortise/mortise-go/bench/contest

go 1.19
