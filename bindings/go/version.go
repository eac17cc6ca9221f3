package mortise

import "github.com/mortise/mortise-go/internal/swig"

// Version returns the version of the C library, such as "1.0.0".
func Version() string { return swig.Text(swig.Version_text()) }

func checkLibrary() error {
	if swig.Check_abi(abiMajor, abiMinor) == 0 {
		return nil
	}
	return failure(ErrUnsupported, "the library is "+Version()+
		", which is not supported; install 1.0 or later")
}
