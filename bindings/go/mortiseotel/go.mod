module github.com/mortise/mortise-go/mortiseotel

go 1.19

require (
	github.com/mortise/mortise-go v1.0.0
	go.opentelemetry.io/otel v1.16.0
	go.opentelemetry.io/otel/sdk v1.16.0
	go.opentelemetry.io/otel/trace v1.16.0
)

require (
	github.com/go-logr/logr v1.2.4 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	go.opentelemetry.io/otel/metric v1.16.0 // indirect
	golang.org/x/sys v0.8.0 // indirect
)

// For this repository. A program that uses the module does not see it.
replace github.com/mortise/mortise-go => ../
