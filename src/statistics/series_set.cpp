#include "statistics/series_set.hpp"

#include <algorithm>

#include "base/text/utf8.hpp"

namespace mortise::statistics {

namespace {

constexpr std::string_view other = "other";
constexpr std::array use_names{"mutex", "writer", "reader", "semaphore"};

// The text of a label: unique for each name, UTF-8, and without NUL. A C string ends at a NUL, and
// two series with one text make a scrape fail.
std::string label_text(std::string_view name) {
  static constexpr std::string_view digits = "0123456789ABCDEF";
  static constexpr std::string_view mark = "\xEF\xBF\xBD";
  std::string text;
  while (!name.empty()) {
    const auto size = utf8_size(name);
    const auto part = name.substr(0, std::max<std::size_t>(size, 1));
    if (size == 0 || part.front() == '\0' || part == mark) {
      for (const char c : part) {
        const auto byte = static_cast<unsigned char>(c);
        text.append(mark).append(1, digits[byte >> 4U]).append(1, digits[byte & 0xFU]);
      }
    } else {
      text += part;
    }
    name.remove_prefix(part.size());
  }
  return text;
}

std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= list.size();) {
    const auto end = std::min(list.find(',', at), list.size());
    parts.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

}  // namespace

// Backtracks to the last star at most, so that the time is bounded by the product of the lengths.
bool matches(std::string_view pattern, std::string_view text) noexcept {
  std::size_t in_pattern = 0;
  std::size_t in_text = 0;
  auto star = std::string_view::npos;
  std::size_t after_star = 0;  // the text after the star's part
  while (in_text < text.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      star = in_pattern++;
      after_star = in_text;
    } else if (in_pattern < pattern.size() && pattern[in_pattern] == text[in_text]) {
      ++in_pattern;
      ++in_text;
    } else if (star != std::string_view::npos) {
      in_pattern = star + 1;
      in_text = ++after_star;
    } else {
      return false;
    }
  }
  while (in_pattern < pattern.size() && pattern[in_pattern] == '*') ++in_pattern;
  return in_pattern == pattern.size();
}

series_set::series_set(std::string_view rule) : rule_(rule), patterns_(split(rule_)) {}

std::string_view series_set::series_name(std::string_view name, std::string_view label) const {
  if (rule_ == "off") return {};
  if (rule_ == "label") return label.empty() ? other : label;
  if (rule_ == "name") return name;
  for (const auto pattern : patterns_) {
    if (matches(pattern, name)) return pattern;
  }
  return other;
}

lock_statistics& series_set::of(std::string_view name, std::string_view label, lock_use use) {
  auto key = series_name(name, label);
  const std::lock_guard guard(mutex_);
  auto found = all_.find(key);
  if (found == all_.end()) {
    if (all_.size() >= longest) key = other;
    found = all_.try_emplace(std::string(key)).first;
  }
  return found->second[static_cast<std::size_t>(use)];
}

void series_set::add_to(snapshot& target) const {
  const std::lock_guard guard(mutex_);
  for (const auto& [name, counts] : all_) {
    for (std::size_t use = 0; use < lock_use_count; ++use) {
      labels base{{"kind", use_names[use]}};
      if (rule_ != "off") base.emplace_back("name", label_text(name));
      counts[use].add_to(target, base);
    }
  }
}

}  // namespace mortise::statistics
