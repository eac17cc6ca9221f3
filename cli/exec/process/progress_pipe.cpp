#include "cli/exec/process/progress_pipe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "cli/exit_code.hpp"
#include "cli/failure.hpp"

namespace mortise::cli::exec {
namespace {

// A command may write faster than this process reads. The rest stays readable.
constexpr int most_reads = 16;
constexpr std::size_t read_bytes = std::size_t{64} << 10U;

}  // namespace

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
  std::array<char, read_bytes> reports{};
  for (int reads = 0; reads < most_reads; ++reads) {
    if (::read(reader_, reports.data(), reports.size()) <= 0) return reads > 0;
  }
  return true;
}

}  // namespace mortise::cli::exec
