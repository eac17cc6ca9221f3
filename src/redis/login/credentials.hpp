// A client's login at its servers: the user and the password. The password comes from the URL, from
// a file or from the program. The file is read again for each connection. The program may change
// the login at any time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "base/secret.hpp"
#include "base/status.hpp"

namespace mortise::redis {

// The longest bulk string that a server accepts before the login.
constexpr std::size_t longest_password = 16384;

// The login of one connection.
struct login {
  std::string user;  // empty: the server's default user
  secret password;
  // The version of the program's login. 0 is the first, of URL or file.
  std::uint64_t version = 0;

  [[nodiscard]] bool is_needed() const noexcept { return !user.empty() || !password.empty(); }
  // Removes the login's text from a server's message: a long user's name or password everywhere, a
  // short one where it is a separate word. Reports whether there was any.
  bool hide_in(std::string& words) const noexcept;
  // The same for the text of an outcome.
  void hide_in(outcome& problem) const noexcept;
  // The user's name, for messages and AUTH.
  [[nodiscard]] std::string_view name() const noexcept {
    return user.empty() ? std::string_view("default") : std::string_view(user);
  }
};

// Shared by all connections of a client. Any thread.
class credentials {
 public:
  // `option` is the one that names the file, for messages.
  credentials(login first, std::string password_file, const char* option = "password_file")
      : password_file_(std::move(password_file)), option_(option), current_(std::move(first)) {}

  // The login of a new connection. Reads the file, so it may block as long as that takes, and
  // throws bad_alloc.
  outcome read(login& target) const;
  // Replaces the login, for new connections. A connection that has already used it gets the version
  // first in `sent_version`. So no thread takes the connection for one with an older login.
  void replace(login with, std::atomic<std::uint64_t>* sent_version = nullptr) noexcept;
  [[nodiscard]] std::uint64_t version() const noexcept;
  // See login. A file's password is known only while a login uses it.
  void hide_in(outcome& problem) const noexcept;
  [[nodiscard]] bool has_file() const noexcept { return !password_file_.empty(); }
  // The place to correct a wrong login: "correct them in the URL".
  [[nodiscard]] std::string remedy() const;

 private:
  const std::string password_file_;  // empty for none
  const char* const option_;
  mutable std::mutex mutex_;
  login current_;
};

}  // namespace mortise::redis
