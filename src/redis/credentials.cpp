#include "redis/credentials.hpp"

#include "base/printable.hpp"
#include "base/small_file.hpp"

namespace mortise::redis {

namespace {

constexpr const char* option = "password_file";

// Editors and `echo` end a file by a line end, which is no part of the password. A second one is.
std::string_view without_line_end(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(text.ends_with("\r\n") ? 2 : 1);
  return text;
}

}  // namespace

outcome credentials::read(login& into) const {
  {
    const std::lock_guard guard(mutex_);
    into = current_;
  }
  if (!has_file()) return {};
  constexpr std::size_t line_end = 2;
  secret text;
  auto how = read_small_file(option, password_file_, longest_password + line_end, text);
  if (!how.ok()) return how;
  const auto password = without_line_end(text.view());
  const auto wrong = [&](std::string_view problem) {
    return outcome::of(status::invalid_argument, option, ": ", printable(password_file_, 4096), " ",
                       problem);
  };
  if (password.empty()) return wrong("holds nothing but a line end; write the password into it");
  if (password.size() > longest_password) {
    return wrong("holds more than " + std::to_string(longest_password) +
                 " bytes, which no server takes; is it the right file?");
  }
  into.password = secret(password);
  return {};
}

void credentials::replace(login with, std::atomic<std::uint64_t>* said_version) noexcept {
  const std::lock_guard guard(mutex_);
  with.version = current_.version + 1;
  if (said_version != nullptr) *said_version = with.version;
  std::swap(current_, with);
}

std::uint64_t credentials::version() const noexcept {
  const std::lock_guard guard(mutex_);
  return current_.version;
}

std::string credentials::mend() const {
  if (has_file()) {
    return "correct the password in " + printable(password_file_, 4096) +
           " (password_file), or the user in the URL";
  }
  return version() == 0 ? "correct them in the URL" : "give the right ones by set_credentials";
}

}  // namespace mortise::redis
