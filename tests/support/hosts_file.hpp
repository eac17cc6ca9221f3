// A file like /etc/hosts that several processes change at once. Each writes the lines of its own
// names and moves no other line, so readers always find the other lines whole.
//
// A name ends in the number of the process that made it: `mortise-PID.test`. The next change
// removes the lines of a process that died without removing them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mortise::testing {

class hosts_file {
 public:
  explicit hosts_file(std::string path) : path_(std::move(path)) {}

  // The name of this process.
  static std::string own_name();
  // Replaces the lines of the name. No addresses: removes them. Throws std::runtime_error, which
  // names the file and the reason.
  void lead(const std::string& name, const std::vector<std::string>& addresses);

 private:
  const std::string path_;
};

// The text of such a file after the change, for hosts_file and its tests.
[[nodiscard]] std::string with_lines(std::string text, const std::string& name,
                                     const std::vector<std::string>& addresses);

}  // namespace mortise::testing
