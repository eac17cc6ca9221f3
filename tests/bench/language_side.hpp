// A program in another language that does its side of a comparison. It is asked by lines of text on
// its standard input, does what it is told and answers by a line of numbers, so that both sides
// take turns in one run. Time, memory and threads are measured from here, the same for all
// languages.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mortise::bench {

class language_side {
 public:
  explicit language_side(std::vector<std::string> command);
  language_side(const language_side&) = delete;
  language_side& operator=(const language_side&) = delete;
  // Ends it, whatever it does.
  ~language_side();

  // The answer to one question; throws when the program has ended, or is silent for long.
  std::vector<double> ask(const std::string& question);
  // How long it took to answer.
  double time_ns(const std::string& question);

  // The CPU time that it took, of all of its threads.
  double cpu_ns(const std::string& question);

  // What the program takes up after it has thrown away what it does not need: resident memory, and
  // what it uses of memory that is resident from its start.
  std::int64_t memory_bytes();
  [[nodiscard]] pid_t process_id() const { return pid_; }
  // Threads of the operating system that it has.
  [[nodiscard]] std::size_t threads() const;
  // The most of them that were seen, now and during the questions so far.
  std::size_t most_threads();

 private:
  pid_t pid_ = -1;
  int socket_ = -1;
  std::size_t most_threads_ = 0;
};

}  // namespace mortise::bench
