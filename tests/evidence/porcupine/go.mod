module github.com/mortise/mortise-go/evidence/porcupine

go 1.19

require github.com/anishathalye/porcupine v1.3.1
