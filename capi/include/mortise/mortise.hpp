/**
 * Mortise in C++17 and later: a layer without code of its own over the C ABI, which is linked as
 * from C. The contract is that of mortise/mortise.h, in eight rules; the page is docs/cxx.md.
 *
 * - `mortise::client` is the connection; `lock` (a `mutex`), `rw`, `semaphore` and `multi` are
 *   handles; each acquire gives a `hold`, whose end unlocks.
 * - What fails throws `mortise::exception`; with std::nothrow as its last argument a function gives
 *   a `mortise::result` instead, which is std::expected from C++23 on. Without exceptions only
 *   these are there.
 * - Times are of std::chrono, and rounded up to a millisecond. `mortise::timeout` also takes a
 *   std::stop_token, from C++20 on.
 */
#ifndef MORTISE_MORTISE_HPP
#define MORTISE_MORTISE_HPP

#include "awaitable.hpp"
#include "census.hpp"
#include "client.hpp"
#include "dispatcher.hpp"
#include "error.hpp"
#include "examination.hpp"
#include "hold.hpp"
#include "info.hpp"
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
