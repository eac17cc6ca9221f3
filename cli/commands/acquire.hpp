// `mortise acquire` and `mortise renew`: a hold that outlives its command.
#pragma once

namespace mortise::cli {

int acquire_lock(int argc, const char* const* argv);
int renew_hold(int argc, const char* const* argv);

}  // namespace mortise::cli
