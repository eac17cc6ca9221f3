module github.com/mortise/mortise-go/evidence

go 1.19

require github.com/mortise/mortise-go v0.0.0

replace github.com/mortise/mortise-go => ../../../../bindings/go
