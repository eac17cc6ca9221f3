#include "cli/exec/process/program.hpp"

#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "cli/exit_code.hpp"
#include "cli/failure.hpp"

namespace mortise::cli::exec {
namespace {

class environment {
 public:
  explicit environment(const variables& more) {
    for (auto* const* one = ::environ; *one != nullptr; ++one) {
      if (!is_among(more, *one)) entries_.push_back(*one);
    }
    texts_.reserve(more.size());
    for (const auto& [name, value] : more) {
      if (value) entries_.push_back(texts_.emplace_back(name).append("=").append(*value).data());
    }
    entries_.push_back(nullptr);
  }

  char* const* data() const { return entries_.data(); }

 private:
  static bool is_among(const variables& more, const char* entry) {
    for (const auto& [name, value] : more) {
      if (std::strncmp(entry, name.c_str(), name.size()) == 0 && entry[name.size()] == '=') {
        return true;
      }
    }
    return false;
  }

  std::vector<std::string> texts_;
  std::vector<char*> entries_;
};

std::vector<char*> words_of(const std::vector<std::string>& command) {
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  return words;
}

int spawn(pid_t& process, const std::string& file, const std::vector<std::string>& command,
          const variables& more, const sigset_t& mask) {
  const environment variables_of_program(more);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &mask);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int problem = ::posix_spawnp(&process, file.c_str(), nullptr, &attributes,
                                     words_of(command).data(), variables_of_program.data());
  ::posix_spawnattr_destroy(&attributes);
  return problem;
}

// The files that execvp tries for this word, in this order.
std::vector<std::string> files_of(const std::string& word) {
  if (word.find('/') != std::string::npos) return {word};
  const char* const path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/bin:/usr/bin";
  std::vector<std::string> files;
  for (;;) {
    const auto size = rest.find(':');
    const std::string folder(rest.substr(0, size));
    files.push_back((folder.empty() ? "." : folder) + "/" + word);
    if (size == std::string_view::npos) return files;
    rest.remove_prefix(size + 1);
  }
}

// A script without an interpreter line runs in the shell, as with execvp. The shell would search
// the word in the current folder. posix_spawnp does not return the file that it found in PATH.
int spawn_script(pid_t& process, const std::vector<std::string>& command, const variables& more,
                 const sigset_t& mask) {
  int problem = ENOEXEC;
  for (const auto& file : files_of(command.front())) {
    problem = spawn(process, file, command, more, mask);
    if (problem == 0) break;
    if (problem != ENOEXEC) continue;
    std::vector<std::string> by_shell = {"/bin/sh", file};
    by_shell.insert(by_shell.end(), command.begin() + 1, command.end());
    return spawn(process, by_shell.front(), by_shell, more, mask);
  }
  return problem;
}

}  // namespace

pid_t start_program(const std::vector<std::string>& command, const variables& more,
                    const sigset_t& mask) {
  pid_t process = -1;
  int problem = spawn(process, command.front(), command, more, mask);
  if (problem == ENOEXEC) problem = spawn_script(process, command, more, mask);
  if (problem == 0) return process;
  const auto text = "cannot execute \"" + command.front() + "\": " + std::strerror(problem);
  if (problem == ENOENT || problem == ENOTDIR) {
    throw failure(exit_not_found, text + "; give a program in PATH, or its path");
  }
  if (problem == EAGAIN || problem == ENOMEM) throw failure(exit_system, text);
  throw failure(exit_not_executable, text + "; give an executable file");
}

}  // namespace mortise::cli::exec
