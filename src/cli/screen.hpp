// The whole terminal, by ncurses, which is loaded here only: no other command has to wait for it.
#pragma once

#include <cstdint>
#include <string>

namespace mortise::cli {

class screen {
 public:
  // Throws a failure where the library or the terminal cannot do it.
  screen();
  ~screen();
  screen(const screen&) = delete;
  screen& operator=(const screen&) = delete;

  // What is there now; of lines without room for them the last are not shown.
  void show(const std::string& text);
  size_t width() const;
  // Waits for a key, or for another size of the terminal, for so long. The key, or `no_key`.
  int await_key(int64_t timeout_ms);
  static constexpr int no_key = -1;

 private:
  struct library;
  library* library_;
};

}  // namespace mortise::cli
