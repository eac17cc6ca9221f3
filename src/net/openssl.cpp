#include "net/openssl.hpp"

#include <dlfcn.h>

#include <string>

#ifdef MORTISE_TLS_LINK
extern "C" {
#define FUNCTION(result, name, parameters) result name parameters;
#include "net/openssl_functions.inc"
#undef FUNCTION
}
#endif

namespace mortise::net {

namespace {

// What was found, once per process.
struct finding {
  openssl functions;
  bool is_there = false;
  std::string problem;
};

#if defined(MORTISE_TLS_LINK)

finding find_it() {
  finding found;
#define FUNCTION(result, name, parameters) found.functions.name = &::name;
#include "net/openssl_functions.inc"
#undef FUNCTION
  found.is_there = true;
  return found;
}

#elif defined(MORTISE_TLS_OFF)

finding find_it() {
  finding found;
  found.problem = "scheme: this build of the library has no TLS; build it without MORTISE_TLS=off";
  return found;
}

#else

constexpr const char* library = "libssl.so.3";
constexpr const char* mend =
    "; install OpenSSL 3: package libssl3 of Debian and Ubuntu, openssl-libs of Fedora and RHEL";

finding find_it() {
  finding found;
  // Names of OpenSSL that the program has for itself are not ours, nor ours the program's. What
  // libssl needs, libcrypto, is found through it.
  void* const handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const reason = ::dlerror();
    found.problem = std::string("scheme: rediss needs OpenSSL 3, which cannot be loaded: ") +
                    (reason != nullptr ? reason : library) + mend;
    return found;
  }
  const char* missing = nullptr;
#define FUNCTION(result, name, parameters)                                                         \
  found.functions.name = reinterpret_cast<decltype(found.functions.name)>(::dlsym(handle, #name)); \
  if (found.functions.name == nullptr) missing = #name;
#include "net/openssl_functions.inc"
#undef FUNCTION
  found.is_there = missing == nullptr;
  if (missing != nullptr) {
    found.problem =
        std::string("scheme: rediss needs OpenSSL 3, and ") + library + " has no " + missing + mend;
  }
  return found;
}

#endif

const finding& finding_of_process() {
  static const finding found = [] {
    auto made = find_it();
    // It would free what our threads still use when the process exits.
    if (made.is_there &&
        made.functions.OPENSSL_init_ssl(openssl_number::init_no_atexit, nullptr) != 1) {
      made.is_there = false;
      made.problem = "scheme: rediss needs OpenSSL, which does not start; correct its openssl.cnf";
    }
    return made;
  }();
  return found;
}

}  // namespace

const openssl* openssl::find(outcome& why) {
  const auto& found = finding_of_process();
  if (found.is_there) return &found.functions;
  why = outcome::of(status::unsupported, found.problem);
  return nullptr;
}

const openssl& openssl::found() noexcept { return finding_of_process().functions; }

}  // namespace mortise::net
