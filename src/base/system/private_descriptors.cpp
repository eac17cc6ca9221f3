#include "base/system/private_descriptors.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstdint>

#include "base/system/fork.hpp"

namespace mortise {

namespace {

using word = std::uint64_t;
constexpr int bits = sizeof(word) * CHAR_BIT;
// The kernel's default limit of a process (fs.nr_open). Only exec closes a descriptor above this
// limit.
constexpr int most = 1 << 20;

// No mutex, because a child may inherit it locked. Untouched pages use no memory.
std::array<std::atomic<word>, most / bits> kept{};
std::atomic<int> words_used{0};

constexpr word bit_of(int descriptor) noexcept { return word{1} << (descriptor % bits); }

}  // namespace

int keep_private(int descriptor) noexcept {
  if (descriptor < 0 || descriptor >= most) return descriptor;
  process_mark();  // the first call prepares for fork
  const int index = descriptor / bits;
  kept[static_cast<std::size_t>(index)].fetch_or(bit_of(descriptor));
  for (int used = words_used.load(); used <= index;) {
    if (words_used.compare_exchange_weak(used, index + 1)) break;
  }
  return descriptor;
}

void close_private(int descriptor) noexcept {
  if (descriptor < 0) return;
  // The order matters: after the close another thread may get the same number.
  if (descriptor < most) {
    kept[static_cast<std::size_t>(descriptor / bits)].fetch_and(~bit_of(descriptor));
  }
  ::close(descriptor);
}

void close_inherited() noexcept {
  const int used = words_used.load();
  for (int index = 0; index < used; ++index) {
    word left = kept[static_cast<std::size_t>(index)].exchange(0);
    for (int bit = 0; left != 0; ++bit, left >>= 1U) {
      if ((left & 1U) != 0) ::close(index * bits + bit);
    }
  }
}

}  // namespace mortise
