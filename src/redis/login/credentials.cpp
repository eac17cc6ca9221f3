#include "redis/login/credentials.hpp"

#include <new>

#include "base/system/small_file.hpp"
#include "base/text/decimal.hpp"
#include "base/text/printable.hpp"

namespace mortise::redis {

namespace {

// Editors and `echo` end a file with a line end, which is no part of the password. A second line
// end is.
std::string_view without_line_end(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(text.ends_with("\r\n") ? 2 : 1);
  return text;
}

bool is_part_of_word(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Whether it begins or ends inside a word.
bool is_within_word(std::string_view text, std::size_t at, std::size_t size) noexcept {
  const auto joins = [&](std::size_t left) {
    return is_part_of_word(text[left]) && is_part_of_word(text[left + 1]);
  };
  return (at > 0 && joins(at - 1)) || (at + size < text.size() && joins(at + size - 1));
}

bool hide(std::string& words, std::string_view hidden) {
  constexpr std::string_view instead = "***";
  constexpr std::size_t longest_short = 7;
  bool has_found = false;
  auto at = hidden.empty() ? std::string::npos : words.find(hidden);
  while (at != std::string::npos) {
    const bool counts = hidden.size() > longest_short || !is_within_word(words, at, hidden.size());
    if (counts) words.replace(at, hidden.size(), instead);
    has_found |= counts;
    at = words.find(hidden, at + (counts ? instead.size() : 1));
  }
  return has_found;
}

}  // namespace

bool login::hide_in(std::string& words) const noexcept try {
  // The password first: it may be the longer one, and contain the name.
  const bool had_password = hide(words, password.view());
  return hide(words, user) || had_password;
} catch (const std::bad_alloc&) {
  words.clear();
  return true;
}

void login::hide_in(outcome& problem) const noexcept {
  if (hide_in(problem.server_text)) hide_in(problem.message);
}

outcome credentials::read(login& target) const {
  {
    const std::lock_guard guard(mutex_);
    target = current_;
  }
  if (!has_file()) return {};
  constexpr std::size_t line_end = 2;
  secret text;
  auto result = read_small_file(option_, password_file_, longest_password + line_end,
                                file_content::confidential, text);
  if (!result.ok()) return result;
  const auto password = without_line_end(text.view());
  const auto wrong = [&](std::string_view problem) {
    return outcome::of(status::invalid_argument, option_, ": ", printable(password_file_, 4096),
                       " ", problem);
  };
  if (password.empty()) return wrong("has only a line end; write the password into it");
  if (password.size() > longest_password) {
    return wrong("holds more than " + std::to_string(longest_password) +
                 " bytes, which no server accepts; check the path");
  }
  target.password = secret(password);
  return {};
}

void credentials::replace(login with, std::atomic<std::uint64_t>* sent_version) noexcept {
  const std::lock_guard guard(mutex_);
  with.version = current_.version + 1;
  if (sent_version != nullptr) *sent_version = with.version;
  std::swap(current_, with);
}

std::uint64_t credentials::version() const noexcept {
  const std::lock_guard guard(mutex_);
  return current_.version;
}

void credentials::hide_in(outcome& problem) const noexcept {
  if (problem.server_text.empty()) return;
  const std::lock_guard guard(mutex_);
  current_.hide_in(problem);
}

std::string credentials::remedy() const {
  if (has_file()) {
    return "correct the password in " + printable(password_file_, 4096) + " (" + option_ +
           "), or the user in the URL";
  }
  return version() == 0 ? "correct them in the URL" : "give the right ones with set_credentials";
}

}  // namespace mortise::redis
