// The commands that a service lacks, such as a proxy that passes on only a part of them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mortise::redis {

// An error reply of a server or a proxy without the command.
bool is_unknown_command(std::string_view error) noexcept;

class service_gaps {
 public:
  // `command` is a literal, and is noted once.
  void note(const char* command);
  [[nodiscard]] bool is_empty() const noexcept { return commands_.empty(); }
  // Whether one of the gaps makes locks impossible.
  [[nodiscard]] bool excludes_locks() const noexcept;
  // "HELLO, MULTI and SUBSCRIBE".
  [[nodiscard]] std::string text() const;
  // The missing commands that locks need, and the remedy. Only for gaps that exclude locks.
  [[nodiscard]] std::string remedy() const;

 private:
  std::vector<const char*> commands_;
};

}  // namespace mortise::redis
