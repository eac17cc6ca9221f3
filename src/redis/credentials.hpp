// Who a client is at its servers: the user, and the password of the URL, of a file that is read
// again for each connection, or of the program, which may give others while the client lives.
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

// The longest bulk string that a server takes from somebody who has not logged in.
constexpr std::size_t longest_password = 16384;

// What one connection says.
struct login {
  std::string user;  // empty: the server's default user
  secret password;
  // Which of the program's it is; 0 for the first, of URL or file.
  std::uint64_t version = 0;

  [[nodiscard]] bool is_needed() const noexcept { return !user.empty() || !password.empty(); }
  // Takes out of a server's words what they repeat of it: every place of a long user's name or
  // password, and of a short one where it is a word of its own. Whether there was any.
  bool hide_in(std::string& words) const noexcept;
  // The same in what a server's error came to.
  void hide_in(outcome& told) const noexcept;
  // The user's name, where it has to be said.
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

  // What a new connection logs in with. Reads the file, so it may block for as long as that takes,
  // and throws bad_alloc.
  outcome read(login& into) const;
  // The program's own, for new connections from now on. A connection that has said them already is
  // told their version before anybody can take it for one that said older ones.
  void replace(login with, std::atomic<std::uint64_t>* said_version = nullptr) noexcept;
  [[nodiscard]] std::uint64_t version() const noexcept;
  // See login. A file's password is known only while somebody logs in with it.
  void hide_in(outcome& told) const noexcept;
  [[nodiscard]] bool has_file() const noexcept { return !password_file_.empty(); }
  // Where a wrong login is to be corrected: "correct them in the URL".
  [[nodiscard]] std::string remedy() const;

 private:
  const std::string password_file_;  // empty for none
  const char* const option_;
  mutable std::mutex mutex_;
  login current_;
};

}  // namespace mortise::redis
