#include "client/events/lock_history.hpp"

#include <sys/mman.h>

#include <array>
#include <new>

namespace mortise::client {

namespace {

// The words of an event. The checksum covers the others and the event's number.
enum class word : std::size_t { checksum, at, since, name, handle, token, kinds, code };
constexpr std::size_t word_count = 8;
using event_words = std::array<std::uint64_t, word_count>;

// By word; that of the checksum is for the number. All are odd, so each change of one word counts.
constexpr event_words factors = {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb,
                                 0xd6e8feb86659fd93, 0xa0761d6478bd642f, 0xe7037ed1a0b428db,
                                 0x8ebc6af09c88c6e3, 0x589965cc75374cc3};

// Not 0 for an event that was never written.
std::uint64_t checksum_of(const event_words& event, std::uint64_t number) noexcept {
  auto sum = (number + 1) * factors[0];
  for (std::size_t i = 1; i < word_count; ++i) sum += event[i] * factors[i];
  return sum;
}

std::uint64_t& of(event_words& event, word which) noexcept {
  return event[static_cast<std::size_t>(which)];
}

event_words words_of(std::uint64_t lock_name, const lock::lock_event& event) noexcept {
  const auto permits = static_cast<std::uint64_t>(event.permits) & UINT32_MAX;
  event_words words{};
  of(words, word::at) = static_cast<std::uint64_t>(event.at);
  of(words, word::since) = static_cast<std::uint64_t>(event.since);
  of(words, word::name) = lock_name;
  of(words, word::handle) = event.handle;
  of(words, word::token) = static_cast<std::uint64_t>(event.token);
  of(words, word::kinds) = static_cast<std::uint64_t>(event.kind) |
                           static_cast<std::uint64_t>(event.mode) << 8U | permits << 32U;
  of(words, word::code) = static_cast<std::uint64_t>(static_cast<std::int64_t>(event.code));
  return words;
}

lock::lock_event event_of(event_words words) noexcept {
  const auto kinds = of(words, word::kinds);
  return {.kind = static_cast<lock::event_kind>(kinds & UINT8_MAX),
          .mode = static_cast<lock::hold_mode>(kinds >> 8U & 1U),
          .code = static_cast<std::int32_t>(static_cast<std::int64_t>(of(words, word::code))),
          .permits = static_cast<std::int64_t>(kinds >> 32U),
          .handle = of(words, word::handle),
          .token = static_cast<std::int64_t>(of(words, word::token)),
          .at = static_cast<time_ns>(of(words, word::at)),
          .since = static_cast<time_ns>(of(words, word::since))};
}

}  // namespace

// An event fills one cache line. The pages get memory when they are first written.
struct lock_history::ring {
  alignas(64) std::array<event_words, capacity> events;

  event_words& at(std::uint64_t number) noexcept { return events[number % capacity]; }

  static ring& create() {
    auto* const memory =
        ::mmap(nullptr, sizeof(ring), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return *new (memory) ring;
  }
};

lock_history::lock_history() : ring_(ring::create()) {}

lock_history::~lock_history() { ::munmap(&ring_, sizeof(ring)); }

// Two threads write to one place if one of them was stopped for a whole round of the ring. Then the
// checksum is wrong, and the event is lost.
void lock_history::add(std::uint64_t lock_name, const lock::lock_event& event) noexcept {
  auto words = words_of(lock_name, event);
  const auto number = next_.fetch_add(1, std::memory_order_relaxed);
  of(words, word::checksum) = checksum_of(words, number);
  auto& target = ring_.at(number);
  for (std::size_t i = 0; i < word_count; ++i) {
    std::atomic_ref(target[i]).store(words[i], std::memory_order_relaxed);
  }
}

std::optional<lock::lock_event> lock_history::read(std::uint64_t number,
                                                   std::uint64_t lock_name) const noexcept {
  auto& source = ring_.at(number);
  event_words words{};
  for (std::size_t i = 0; i < word_count; ++i) {
    words[i] = std::atomic_ref(source[i]).load(std::memory_order_relaxed);
  }
  if (of(words, word::checksum) != checksum_of(words, number)) return std::nullopt;
  if (lock_name != 0 && of(words, word::name) != lock_name) return std::nullopt;
  return event_of(words);
}

}  // namespace mortise::client
