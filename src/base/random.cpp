#include "base/random.hpp"

#include <sys/random.h>

#include <cerrno>
#include <cstdlib>

namespace mortise {

std::uint64_t random_number() noexcept {
  std::uint64_t number = 0;
  for (;;) {
    const auto got = getrandom(&number, sizeof number, 0);
    if (got == static_cast<ssize_t>(sizeof number)) return number;
    // Without getrandom no identity is safe, so the process cannot continue.
    if (got < 0 && errno != EINTR) std::abort();
  }
}

std::string random_text(int length) {
  static constexpr char letters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  for (int i = 0; i < length; ++i) text.push_back(letters[random_number() % 64]);
  return text;
}

}  // namespace mortise
