#include "net/tls/openssl.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>

#include "base/time.hpp"
#include "net/threads/futex.hpp"

#ifdef MORTISE_TLS_LINK
extern "C" {
#define FUNCTION(result, name, parameters) result name parameters;
#include "net/tls/openssl_functions.inc"
#undef FUNCTION
}
#endif

namespace mortise::net {

namespace {

// The result, found once per process.
struct finding {
  openssl functions;
  bool is_there = false;
  std::string problem;
};

#if defined(MORTISE_TLS_LINK)

finding find_it() {
  finding found;
#define FUNCTION(result, name, parameters) found.functions.name = &::name;
#include "net/tls/openssl_functions.inc"
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

constexpr const char* libssl = "libssl.so.3";
constexpr const char* remedy =
    "; install OpenSSL 3: package libssl3 of Debian and Ubuntu, openssl-libs of Fedora and RHEL";

finding find_it() {
  finding found;
  // OpenSSL's names in the program stay separate from this copy's names. libcrypto, which libssl
  // needs, is found through libssl.
  void* const handle = ::dlopen(libssl, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const reason = ::dlerror();
    found.problem = std::string("scheme: rediss needs OpenSSL 3, which cannot be loaded: ") +
                    (reason != nullptr ? reason : libssl) + remedy;
    return found;
  }
  const char* missing = nullptr;
#define FUNCTION(result, name, parameters)                                                         \
  found.functions.name = reinterpret_cast<decltype(found.functions.name)>(::dlsym(handle, #name)); \
  if (found.functions.name == nullptr) missing = #name;
#include "net/tls/openssl_functions.inc"
#undef FUNCTION
  found.is_there = missing == nullptr;
  if (missing != nullptr) {
    found.problem = std::string("scheme: rediss needs OpenSSL 3, and ") + libssl + " has no " +
                    missing + remedy;
  }
  return found;
}

#endif

// ---- uses --------------------------------------------------------------------------------------

// Read-locked by each use. Readers do not overtake a waiting writer, except with musl, which has no
// such lock. There a writer gives up after one second of uninterrupted uses.
#ifdef PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
constexpr pthread_rwlock_t no_uses = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
#else
constexpr pthread_rwlock_t no_uses = PTHREAD_RWLOCK_INITIALIZER;
#endif
pthread_rwlock_t uses = no_uses;
std::atomic<bool> is_started{false};
std::atomic<bool> is_over{false};

// Waits until there is no use. A use takes microseconds. But a signal handler of the program may
// have interrupted a use, and neither exit nor fork may hang for that.
bool wait_for_uses() noexcept {
  timespec until{};
  ::clock_gettime(CLOCK_REALTIME, &until);
  ++until.tv_sec;
  return ::pthread_rwlock_timedwrlock(&uses, &until) == 0;
}

// The limit of the wait for OpenSSL's end, which may be a call of the program long before its exit.
// Then a flag for that end.
std::atomic<time_ns> ends_by{0};
std::atomic<std::uint32_t> is_ended{0};

void after_end() noexcept {
  is_ended = 1;
  futex_wake_all(&is_ended);
}

// OpenSSL calls this before it frees anything. A function that is registered at exit runs next,
// right after OpenSSL.
void on_end() noexcept {
  ends_by = boot_now() + ns_per_s;
  is_over = true;
  if (wait_for_uses()) ::pthread_rwlock_unlock(&uses);
  static_cast<void>(std::atexit(after_end));  // without it the deadline ends the wait
}

// The thread that ends OpenSSL frees OpenSSL's memory of this thread. If this thread ended
// meanwhile, OpenSSL would free that memory a second time. After the end it does not.
void wait_for_end() noexcept {
  while (is_ended == 0 && boot_now() < ends_by) futex_wait(is_ended, 0, ends_by);
}

// A child has none of the library's threads, so their locks in OpenSSL would stay locked (hazard
// 21).
thread_local bool is_forking = false;
void before_fork() noexcept { is_forking = wait_for_uses(); }
void after_fork() noexcept {
  if (is_forking) ::pthread_rwlock_unlock(&uses);
}
// The lock also counts threads that wait to begin a use. The child does not have them.
void begin_child() noexcept {
  after_fork();
  uses = no_uses;
}

// OpenSSL must not end at exit. It still does if the program uses it too.
bool start(const openssl& found) noexcept {
  return found.OPENSSL_init_ssl(openssl_number::init_no_atexit, nullptr) == 1 &&
         found.OPENSSL_atexit(on_end) == 1 &&
         ::pthread_atfork(before_fork, after_fork, begin_child) == 0;
}

const finding& finding_of_process() {
  static const finding found = [] {
    auto made = find_it();
    if (made.is_there && !start(made.functions)) {
      made.is_there = false;
      made.problem =
          "scheme: rediss needs OpenSSL, which cannot be initialized; correct its openssl.cnf";
    }
    is_started = made.is_there;
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

void openssl::end_thread() noexcept {
  if (!is_started) return;
  {
    const openssl_use use;
    if (use) return found().OPENSSL_thread_stop();
  }
  wait_for_end();
}

openssl_use::openssl_use() noexcept : is_there_(::pthread_rwlock_rdlock(&uses) == 0 && !is_over) {}
openssl_use::~openssl_use() { ::pthread_rwlock_unlock(&uses); }

}  // namespace mortise::net
