// Skips a test that cannot run on this machine. CTest and `./dev test` report it as skipped, with
// the reason.
//
//   MORTISE_SKIP_FOR(changing_name::obstacle());
#pragma once

#include <gtest/gtest.h>

#include <string>

// The obstacle is a reason in words, or empty where there is none.
#define MORTISE_SKIP_FOR(obstacle)                              \
  do {                                                          \
    const std::string reason = (obstacle);                      \
    if (!reason.empty()) GTEST_SKIP() << "skipped: " << reason; \
  } while (false)
