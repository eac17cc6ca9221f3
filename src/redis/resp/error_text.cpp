#include "redis/resp/error_text.hpp"

#include <charconv>
#include <initializer_list>
#include <new>

#include "redis/login/credentials.hpp"

namespace mortise::redis {

namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  for (const auto part : parts) {
    if (contains(text, part)) return true;
  }
  return false;
}

// The text after the first `mark`; empty without a mark.
std::string_view behind(std::string_view text, std::string_view mark) {
  const auto at = text.find(mark);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + mark.size());
}

// "… script: SHA1, on @user_script:LINE." or "… (call to f_SHA1): @user_script:LINE: …"
void find_place(std::string_view error, missing_right& in) noexcept {
  constexpr std::size_t sha1_size = 40;
  for (const std::string_view mark : {"(call to f_", " script: "}) {
    const auto at = error.rfind(mark);
    if (at == std::string_view::npos) continue;
    const auto sha1 = error.substr(at + mark.size());
    if (sha1.find_first_of(",)") == sha1_size) in.script_sha1 = sha1.substr(0, sha1_size);
  }
  const auto line = behind(error, "@user_script:");
  std::from_chars(line.data(), line.data() + line.size(), in.line);
}

// The commands that a line of a script calls, as rights: "+get" or "+get or +set".
std::string rights_on_line(std::string_view text, int line) {
  for (int skipped = 1; skipped < line; ++skipped) {
    const auto end = text.find('\n');
    // the script has no such line, whatever the server reports
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  std::string rights;
  for (auto left = behind(text, "call('"); !left.empty(); left = behind(left, "call('")) {
    rights += rights.empty() ? "+" : " or +";
    for (const char c : left.substr(0, left.find('\''))) rights += static_cast<char>(c | 0x20);
  }
  return rights;
}

std::string name_of(const missing_right& lacking, std::string_view script_text) {
  if (lacking.what == missing_right::kind::key) {
    return "the right to a key: ~{mortise:* ~mortise:*, or ~NAMESPACE:* with the option namespace";
  }
  if (lacking.what == missing_right::kind::channel) {
    return "the right to a channel: &mortise:*, or &NAMESPACE:* with the option namespace";
  }
  if (!lacking.command.empty()) return "the right +" + std::string(lacking.command);
  const auto rights = rights_on_line(script_text, lacking.line);
  return rights.empty() ? "a right to a command" : "the right " + rights;
}

}  // namespace

std::string say_missing_right(const missing_right& lacking, std::string_view script_text) {
  return "the user lacks " + name_of(lacking, script_text) +
         "; allow it with ACL SETUSER: see Rights on the page about the server, or about protocols "
         "for locks of other programs";
}

std::string without_secrets(std::string_view error, const login* sent_login) noexcept try {
  std::string text(error.substr(0, error.find(", with args beginning with")));
  if (sent_login != nullptr) sent_login->hide_in(text);
  // "NOPERM User NAME has no permissions …", also after other words. The name may be any.
  constexpr std::string_view before = "User ";
  constexpr std::string_view after = " has no permissions";
  const auto begin = text.find(before);
  const auto end = text.rfind(after);
  if (begin == std::string::npos || end == std::string::npos || end < begin + before.size()) {
    return text;
  }
  return text.replace(begin, end - begin, "the user");
} catch (const std::bad_alloc&) {
  return {};
}

std::optional<missing_right> find_missing_right(std::string_view error) noexcept {
  missing_right found;
  found.is_in_script = contains_any(error, {"ACL failure in script", "user executing the script"});
  const bool is_of_exec = error.starts_with("EXECABORT") && contains(error, " no permissions ");
  if (!found.is_in_script && !is_of_exec && !error.starts_with("NOPERM")) return std::nullopt;
  if (found.is_in_script) find_place(error, found);
  const auto run = behind(error, "has no permissions to run the '");
  if (!run.empty()) {
    found.command = run.substr(0, run.find('\''));
  } else if (contains_any(error, {"access a channel", "one of the channels", "to the channel"})) {
    found.what = missing_right::kind::channel;
  } else if (contains_any(error, {"access a key", "one of the keys"})) {
    found.what = missing_right::kind::key;
  }
  return found;
}

}  // namespace mortise::redis
