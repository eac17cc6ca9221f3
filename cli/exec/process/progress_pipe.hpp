// The pipe through which the command of `mortise exec --progress` reports that its work goes on.
#pragma once

#include <string>

namespace mortise::cli::exec {

class progress_pipe {
 public:
  // Throws a failure.
  progress_pipe();
  ~progress_pipe();
  progress_pipe(const progress_pipe&) = delete;
  progress_pipe& operator=(const progress_pipe&) = delete;

  // Readable after a report.
  int descriptor() const { return reader_; }
  // Whether anything was reported since the last call.
  bool take();
  // The file that the command writes to. It inherits the descriptor, also in another namespace of
  // processes or files.
  std::string path() const { return "/dev/fd/" + std::to_string(writer_); }

 private:
  int reader_ = -1;
  int writer_ = -1;
};

}  // namespace mortise::cli::exec
