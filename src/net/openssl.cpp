#include "net/openssl.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>

#include "base/time.hpp"
#include "net/futex.hpp"

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

constexpr const char* libssl = "libssl.so.3";
constexpr const char* remedy =
    "; install OpenSSL 3: package libssl3 of Debian and Ubuntu, openssl-libs of Fedora and RHEL";

finding find_it() {
  finding found;
  // Names of OpenSSL that the program has for itself are not ours, nor ours the program's. What
  // libssl needs, libcrypto, is found through it.
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
#include "net/openssl_functions.inc"
#undef FUNCTION
  found.is_there = missing == nullptr;
  if (missing != nullptr) {
    found.problem = std::string("scheme: rediss needs OpenSSL 3, and ") + libssl + " has no " +
                    missing + remedy;
  }
  return found;
}

#endif

// ---- who uses it -------------------------------------------------------------------------------

// Read by each use. Who waits to write is not overtaken, but by musl, which has no such lock: only
// those who use OpenSSL without a gap for a second are not waited for there.
#ifdef PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
constexpr pthread_rwlock_t no_uses = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
#else
constexpr pthread_rwlock_t no_uses = PTHREAD_RWLOCK_INITIALIZER;
#endif
pthread_rwlock_t uses = no_uses;
std::atomic<bool> is_started{false};
std::atomic<bool> is_over{false};

// Waits until there is no use. One takes microseconds; but a signal handler of the program's may be
// in the middle of one, and neither exit nor fork hangs for that.
bool wait_for_uses() noexcept {
  timespec until{};
  ::clock_gettime(CLOCK_REALTIME, &until);
  ++until.tv_sec;
  return ::pthread_rwlock_timedwrlock(&uses, &until) == 0;
}

// Until when threads wait for the end of OpenSSL, which may be the program's own call, far from its
// exit; and whether it has ended.
std::atomic<time_ns> ends_by{0};
std::atomic<std::uint32_t> is_ended{0};

void after_end() noexcept {
  is_ended = 1;
  futex_wake_all(&is_ended);
}

// OpenSSL calls it before it frees anything. What is registered at exit comes next, right after
// OpenSSL.
void on_end() noexcept {
  ends_by = boot_now() + ns_per_s;
  is_over = true;
  if (wait_for_uses()) ::pthread_rwlock_unlock(&uses);
  static_cast<void>(std::atexit(after_end));  // without it the time tells
}

// What OpenSSL keeps for this thread is freed by the thread that ends it, and if this one ended
// meanwhile, OpenSSL would free it here as well. Afterwards it does not.
void wait_for_end() noexcept {
  while (is_ended == 0 && boot_now() < ends_by) futex_wait(is_ended, 0, ends_by);
}

// A child has none of our threads, so what these had locked in OpenSSL would stay so (hazard 21).
thread_local bool is_forking = false;
void before_fork() noexcept { is_forking = wait_for_uses(); }
void after_fork() noexcept {
  if (is_forking) ::pthread_rwlock_unlock(&uses);
}
// Nor has it those that wait to begin a use, which the lock has counted.
void begin_child() noexcept {
  after_fork();
  uses = no_uses;
}

// It would end at exit; if the program has begun to use it, too, it does.
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
