#include "base/system/user_id.hpp"

#include <pwd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <vector>

#include "base/text/printable.hpp"

namespace mortise {

outcome find_user(const char* option, const std::string& name, uid_t& target) {
  const auto* const end = name.data() + name.size();
  if (const auto read = std::from_chars(name.data(), end, target);
      read.ec == std::errc{} && read.ptr == end) {
    return {};
  }
  constexpr std::size_t usual_size = 1024;
  constexpr std::size_t most_size = std::size_t{1} << 20U;
  std::vector<char> buffer(usual_size);
  passwd entry{};
  passwd* found = nullptr;
  int error = 0;
  while ((error = ::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found)) ==
             ERANGE &&
         buffer.size() < most_size) {
    buffer.resize(buffer.size() * 2);
  }
  if (found == nullptr) {
    return outcome::of(status::invalid_argument, option, ": ", printable(name),
                       error == 0 ? " is no user of this system" : " cannot be looked up: ",
                       error == 0 ? "" : std::strerror(error), "; give a user's name or number");
  }
  target = found->pw_uid;
  return {};
}

}  // namespace mortise
