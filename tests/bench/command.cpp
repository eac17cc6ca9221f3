// `mortise exec` on the private server of `local:`, compared with flock(1): the wall time of a
// command that does nothing, from its start to its end.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "experiment.hpp"
#include "in_turn.hpp"

namespace mortise::bench {

namespace {

namespace fs = std::filesystem;

// The folder of the private server, which ends by itself after its last client.
class own_folder {
 public:
  own_folder() {
    std::string path = fs::temp_directory_path() / "mortise-bench.XXXXXX";
    require(::mkdtemp(path.data()) != nullptr, "no temporary folder");
    path_ = path;
    ::setenv("MORTISE_LOCAL_DIR", path_.c_str(), 1);
  }
  own_folder(const own_folder&) = delete;
  own_folder& operator=(const own_folder&) = delete;
  ~own_folder() {
    ::unsetenv("MORTISE_LOCAL_DIR");
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

double milliseconds_of(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const auto began = now_ns();
  pid_t child = 0;
  require(::posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) == 0,
          words.front() + " cannot be run");
  int state = 0;
  while (::waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  require(WIFEXITED(state) && WEXITSTATUS(state) == 0, words.front() + " has failed");
  return static_cast<double>(now_ns() - began) / 1e6;
}

void run(const settings& chosen, table& results) {
  const own_folder folder;
  const auto file = folder.path() + "/lock";
  const auto with = [] {
    return milliseconds_of(
        {MORTISE_BENCH_COMMAND, "exec", "--url", "local:", "bench", "--", "true"});
  };
  const auto without = [&] { return milliseconds_of({"flock", file, "true"}); };
  with();  // starts the server
  const auto seen = compare(chosen.pick(400, 60), with, without);
  results.measured("command.exec", median(seen.ratios));
  results.raw("median %.2f ms, flock %.2f; shortest %.2f and %.2f", median(seen.with),
              median(seen.without), percentile(seen.with, 0), percentile(seen.without, 0));
}

}  // namespace

const experiment& command() {
  static const experiment instance{
      "command",
      {{"command.exec", "mortise exec on local: / flock, wall time", aim::at_most, 2.0, "x"}},
      run};
  return instance;
}

}  // namespace mortise::bench
