// The whole terminal, with ncurses. The library is loaded only here, so that other subcommands
// start faster.
#pragma once

#include <cstdint>
#include <string>

namespace mortise::cli {

class screen {
 public:
  // Throws a failure if the library or the terminal does not support it.
  screen();
  ~screen();
  screen(const screen&) = delete;
  screen& operator=(const screen&) = delete;

  // Replaces the contents. The last lines are omitted if they do not fit.
  void show(const std::string& text);
  size_t width() const;
  // Waits this long for a key or a resize of the terminal. Returns the key, or `no_key`. Throws a
  // failure if the terminal was closed.
  int await_key(int64_t timeout_ms);
  static constexpr int no_key = -1;

 private:
  struct library;
  library* library_;
};

}  // namespace mortise::cli
