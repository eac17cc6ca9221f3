/** One call: what it is given, and what it came to. */
#ifndef MORTISE_CONFORMANCE_CALL_HPP
#define MORTISE_CONFORMANCE_CALL_HPP

#include <chrono>

#include "driver_handles.hpp"
extern "C" {
#include "../words.h"
}

class call {
 public:
  explicit call(words &line) : line_(line) {}

  std::string text_of(const char *key) const {
    const word *found = words_find(&line_, key);
    return found != nullptr ? std::string(found->value, found->size) : std::string();
  }
  bool has(const char *key) const { return words_find(&line_, key) != nullptr; }
  std::int64_t number(const char *key, std::int64_t otherwise = 0) const {
    return words_number(&line_, key, otherwise);
  }
  mortise::timeout wait() const {
    const std::int64_t ms = number("timeout_ms");
    return ms == MORTISE_FOREVER ? mortise::forever
                                 : mortise::timeout(std::chrono::milliseconds(ms));
  }
  std::chrono::milliseconds lease() const { return std::chrono::milliseconds(number("lease_ms")); }
  std::int64_t weight() const { return number("weight", 1); }
  std::int64_t tag() const {
    return static_cast<std::int64_t>(most_handles) + std::atoll(line_.id);
  }
  words &line() const { return line_; }

  /** Takes note of what a call gave; of a hold, which is kept if it has a name, its token. */
  template <class Value>
  void came_to(const mortise::result<Value> &given) {
    if (!given) failure = given.error();
  }
  void came_to(mortise::result<mortise::hold> given) {
    if (!given) {
      failure = given.error();
      return;
    }
    token = given->token();
    if (has("gives")) {
      the_state().holds[text_of("gives")] = *std::move(given);
    } else {
      given->detach();
    }
  }
  void came_to(mortise::status code) {
    if (code != mortise::status::ok) failure = mortise::error(code);
  }

  std::optional<mortise::error> failure;
  std::optional<std::int64_t> value;
  std::int64_t token = 0;
  std::string text;

 private:
  words &line_;
};

/** Reports the result of a call. */
void answer(const call &made);
/** A call of a handle or of a hold, whose result is the whole reply. */
void make_call(handle &of, const std::string &method, call &made);
void make_call(mortise::hold &of, const std::string &method, call &made);
/** A call that ends in an event, or in a line of a thread. */
void start_call(handle &of, const std::string &method, call &made);
/** The program ends: this driver cannot execute the line. */
[[noreturn]] void no_such(const char *what, const std::string &name);

#endif
