// A file of JSON lines that says what a simulation did (docs/internals/models.md), and what its
// writers have in common.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "redis/resp/command.hpp"
#include "simulation/harness/simulated_redis.hpp"

namespace mortise::simulation {

// A further field of an object, after a comma.
std::string field(std::string_view name, std::int64_t value);
std::string field(std::string_view name, std::string_view text);
std::string field(std::string_view name, const reply& value);

// The shipped script that a command runs, or nullptr; and an argument of it, from 1 on.
const redis::script* find_script(const arguments& command);
const std::string& script_argument(const arguments& command, std::size_t number);

// Records the holds of mutexes. True times.
struct hold_trace {
  virtual ~hold_trace() = default;
  virtual void note_hold(const std::string& name, std::string_view owner, std::int64_t token,
                         time_ns deadline) = 0;
  // It has a later deadline, or is over.
  virtual void note_deadline(const std::string& name, std::string_view owner, time_ns deadline) = 0;
  virtual void note_end(const std::string& name, std::string_view owner, time_ns at) = 0;
};

class trace_file {
 public:
  // The header has these fields too. Throws when the file cannot be written.
  trace_file(const std::string& path, const std::string& fields);
  void write(std::string_view event, time_ns at, const std::string& fields);

 private:
  struct file_closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, file_closer> file_;
};

}  // namespace mortise::simulation
