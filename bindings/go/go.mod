module github.com/mortise/mortise-go

go 1.19
