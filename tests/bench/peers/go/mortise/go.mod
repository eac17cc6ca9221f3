module github.com/mortise/mortise-go/bench/peers/mortise

go 1.19

require (
	github.com/mortise/mortise-go v0.0.0
	github.com/mortise/mortise-go/bench/contention v0.0.0
)

replace (
	github.com/mortise/mortise-go => ../../../../../bindings/go
	github.com/mortise/mortise-go/bench/contention => ../contention
)
