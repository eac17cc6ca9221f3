// Static tracepoints (USDT) for programs like bpftrace and perf. An unused one costs a single no-op
// instruction. docs/statistics.md documents them. Without <sys/sdt.h> at compile time there are
// none. CMake then defines MORTISE_NO_PROBES.
#pragma once

#include <cstdint>

#include "base/time.hpp"

#if defined(__has_include) && !defined(MORTISE_NO_PROBES)
#if __has_include(<sys/sdt.h>)
#define SDT_USE_VARIADIC  // for STAP_PROBEV
#include <sys/sdt.h>
#define MORTISE_PROBE(name, ...) STAP_PROBEV(mortise, name, __VA_ARGS__)
#endif
#endif
#ifndef MORTISE_PROBE
#define MORTISE_PROBE(name, ...) ::mortise::probe::nobody_looks(__VA_ARGS__)
#endif

namespace mortise::probe {

template <class... Arguments>
void nobody_looks(Arguments... /*of a probe*/) noexcept {}

// `owner` identifies the handle; `lock` is the name of its lock.
inline void wait_start(const void* owner, const char* lock) noexcept {
  MORTISE_PROBE(wait__start, owner, lock);
}
// With the result of the acquire as a mortise_status.
inline void wait_end(const void* owner, const char* lock, std::int32_t status,
                     time_ns waited_ns) noexcept {
  MORTISE_PROBE(wait__end, owner, lock, status, waited_ns);
}
inline void grant(const void* owner, const char* lock, std::int64_t token) noexcept {
  MORTISE_PROBE(grant, owner, lock, token);
}
inline void release(const void* owner, const char* lock, std::int64_t token,
                    time_ns held_ns) noexcept {
  MORTISE_PROBE(release, owner, lock, token, held_ns);
}
// With the cause as a mortise_reason.
inline void loss(const void* owner, const char* lock, std::int64_t token, std::int32_t why,
                 time_ns held_ns) noexcept {
  MORTISE_PROBE(loss, owner, lock, token, why, held_ns);
}
// After a reconnect, with the end of the previous connection as a label of the statistics.
inline void reconnect(const char* server, const char* why) noexcept {
  MORTISE_PROBE(reconnect, server, why);
}

}  // namespace mortise::probe
