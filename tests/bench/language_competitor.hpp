// A program in another language that takes part in a comparison. It reads requests as lines of text
// on its standard input, executes them, and answers by a line of numbers, so that both competitors
// take turns in one run. Its time, memory and threads are measured from this process, in the same
// way for all languages.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mortise::bench {

class language_competitor {
 public:
  explicit language_competitor(std::vector<std::string> command);
  language_competitor(const language_competitor&) = delete;
  language_competitor& operator=(const language_competitor&) = delete;
  // Ends it, whatever it does.
  ~language_competitor();

  // The reply to one request. Throws when the program has ended, or is silent for long.
  std::vector<double> ask(const std::string& request);
  // The time until its reply.
  double time_ns(const std::string& request);

  // The CPU time that it took, of all of its threads.
  double cpu_ns(const std::string& request);

  // The memory of the program after a garbage collection: resident memory, and the used part of the
  // memory that is resident from its start.
  std::int64_t memory_bytes();
  [[nodiscard]] pid_t process_id() const { return pid_; }
  // Threads of the operating system that it has.
  [[nodiscard]] std::size_t threads() const;
  // The most threads that were seen, now and during the requests so far.
  std::size_t most_threads();

 private:
  pid_t pid_ = -1;
  int socket_ = -1;
  std::size_t most_threads_ = 0;
};

}  // namespace mortise::bench
