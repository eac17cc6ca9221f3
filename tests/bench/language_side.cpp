#include "language_side.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

#include "harness.hpp"

namespace mortise::bench {

language_side::language_side(std::vector<std::string> command, const std::string& url) {
  command.push_back(url);
  std::vector<char*> words;
  for (auto& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  std::array<int, 2> input{};
  std::array<int, 2> output{};
  require(::pipe2(input.data(), O_CLOEXEC) == 0 && ::pipe2(output.data(), O_CLOEXEC) == 0,
          "no pipe");
  pid_ = ::fork();
  require(pid_ >= 0, "fork failed");
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(input[0], STDIN_FILENO);
    ::dup2(output[1], STDOUT_FILENO);
    ::execvp(words[0], words.data());
    ::_exit(127);
  }
  ::close(input[0]);
  ::close(output[1]);
  questions_ = input[1];
  answers_ = output[0];
}

language_side::~language_side() {
  ::close(questions_);
  ::close(answers_);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

double language_side::ask(const std::string& question) {
  const std::string line = question + "\n";
  require(::write(questions_, line.data(), line.size()) == static_cast<ssize_t>(line.size()),
          "the other language's program has ended");
  std::string answer;
  char one = 0;
  while (::read(answers_, &one, 1) == 1 && one != '\n') answer += one;
  require(one == '\n', "the other language's program gave no answer");
  return std::strtod(answer.c_str(), nullptr);
}

}  // namespace mortise::bench
