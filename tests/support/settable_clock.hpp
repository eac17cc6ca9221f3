// The argument with which a server has test_server::set_clock().
#pragma once

namespace mortise::testing {

constexpr const char* settable_clock = "clock=" MORTISE_CLOCK_SHIM;

}  // namespace mortise::testing
