// Throw-away certificates from tests/support/certificates, in a folder of a test's own or in that
// of a server.
#pragma once

#include <string>

namespace mortise::testing {

// Runs the script; `arguments` are words, without quotes. Throws when it fails.
void make_certificates(const std::string& folder, const std::string& arguments = "");

// A folder that goes with the object.
class scratch_folder {
 public:
  scratch_folder();
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace mortise::testing
