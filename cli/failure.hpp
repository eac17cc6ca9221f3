// An error that ends the command: its text on stderr and its exit code.
#pragma once

#include <mortise/mortise.h>

#include <exception>
#include <string>

namespace mortise::cli {

class failure : public std::exception {
 public:
  failure(int code, std::string text) : code_(code), text_(std::move(text)) {}
  // For a call of the library that did not return MORTISE_OK.
  explicit failure(const mortise_error* error);

  const char* what() const noexcept override { return text_.c_str(); }
  int code() const { return code_; }

 private:
  int code_;
  std::string text_;
};

// Writes "mortise COMMAND: TEXT" to stderr with one write, because other processes may write there,
// too.
void complain(const char* command, const std::string& text);

}  // namespace mortise::cli
