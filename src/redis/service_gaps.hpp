// The commands that a service lacks, such as a proxy that passes on a part of them only. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mortise::redis {

// An error reply by which a server or a proxy says that it does not have the command.
bool is_unknown_command(std::string_view error) noexcept;

class service_gaps {
 public:
  // `command` is a literal, and noted once.
  void note(const char* command);
  // Whether no lock works without one of them.
  [[nodiscard]] bool excludes_locks() const noexcept;
  // "HELLO, MULTI and SUBSCRIBE".
  [[nodiscard]] std::string text() const;
  // Which of them locks need, and what to do. Only where they exclude locks.
  [[nodiscard]] std::string remedy() const;

 private:
  std::vector<const char*> commands_;
};

}  // namespace mortise::redis
