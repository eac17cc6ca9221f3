#include "base/random.hpp"

#include <sys/random.h>

#include <cerrno>
#include <cstdlib>

namespace mortise {

namespace {

// At most 256 bytes, which the kernel gives at once.
void fill(void* bytes, std::size_t count) noexcept {
  for (;;) {
    const auto got = getrandom(bytes, count, 0);
    if (got == static_cast<ssize_t>(count)) return;
    // Without getrandom no identity is safe, so the process cannot continue.
    if (got < 0 && errno != EINTR) std::abort();
  }
}

}  // namespace

std::uint64_t random_number() noexcept {
  std::uint64_t number = 0;
  fill(&number, sizeof number);
  return number;
}

void fill_with_random_text(std::span<char> text) noexcept {
  static constexpr char letters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  fill(text.data(), text.size());
  for (auto& each : text) each = letters[static_cast<unsigned char>(each) % 64];
}

std::string random_text(std::size_t length) {
  std::string text(length, '\0');
  fill_with_random_text(text);
  return text;
}

}  // namespace mortise
