// The file of --token-file. A regular file is replaced at once, so no reader finds a part of it,
// and no link leads elsewhere. A FIFO or a device is written to.
#pragma once

#include <string>
#include <utility>

namespace mortise::cli::exec {

// Its functions throw a failure. Without a call of write() nothing is left behind.
class token_file {
 public:
  explicit token_file(std::string path) : path_(std::move(path)) {}
  ~token_file();
  token_file(const token_file&) = delete;
  token_file& operator=(const token_file&) = delete;

  // False as long as a FIFO has no reader.
  bool open();
  void write(const std::string& text);

 private:
  const std::string path_;
  std::string temporary_;  // replaces the regular file; empty for none
  int descriptor_ = -1;
};

}  // namespace mortise::cli::exec
