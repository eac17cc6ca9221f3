#include "cli/exec/process/progress_pipe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "cli/exit_code.hpp"
#include "cli/failure.hpp"

namespace mortise::cli::exec {

progress_pipe::progress_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    throw failure(exit_system, std::string("cannot open a pipe: ") + std::strerror(errno));
  }
  reader_ = ends[0];
  writer_ = ends[1];
  // The command inherits this end. A program of it expects that a write waits.
  ::fcntl(writer_, F_SETFD, 0);
  ::fcntl(writer_, F_SETFL, 0);
}

progress_pipe::~progress_pipe() {
  ::close(reader_);
  ::close(writer_);
}

bool progress_pipe::take() {
  std::array<char, 4096> reports{};
  bool is_any = false;
  while (::read(reader_, reports.data(), reports.size()) > 0) is_any = true;
  return is_any;
}

}  // namespace mortise::cli::exec
