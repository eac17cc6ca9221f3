/**
 * Mortise in C++17 and later: a header-only layer over the C ABI, linked as from C. The contract is
 * that of mortise/mortise.h, in eight rules. The page is docs/cxx.md.
 *
 * - `mortise::client` is the connection. `lock` (a `mutex`), `rw`, `semaphore`, `election` and
 *   `multi` are handles. Each acquire returns a `hold`, whose destructor unlocks.
 * - A failure throws `mortise::exception`. With std::nothrow as its last argument, a function
 *   returns a `mortise::result` instead, which is std::expected from C++23 on. Without exceptions
 *   only these functions exist.
 * - Times are of std::chrono, and rounded up to a millisecond. From C++20 on, `mortise::timeout`
 *   also takes a std::stop_token.
 */
#ifndef MORTISE_MORTISE_HPP
#define MORTISE_MORTISE_HPP

#include "awaitable.hpp"
#include "client.hpp"
#include "dispatcher.hpp"
#include "election.hpp"
#include "error.hpp"
#include "health.hpp"
#include "history.hpp"
#include "hold.hpp"
#include "info.hpp"
#include "listing.hpp"
#include "lock.hpp"
#include "mortise.h"
#include "multi.hpp"
#include "options.hpp"
#include "queue.hpp"
#include "result.hpp"
#include "rw.hpp"
#include "semaphore.hpp"
#include "stats.hpp"
#include "status.hpp"
#include "timeout.hpp"

#endif  // MORTISE_MORTISE_HPP
