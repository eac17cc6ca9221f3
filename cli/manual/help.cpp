#include "cli/manual/help.hpp"

#include <algorithm>

#include "cli/manual/text.hpp"

namespace mortise::cli::manual {
namespace {

constexpr std::string_view example_start = "  mortise ";
constexpr std::string_view usage_start = "Usage: ";
// A continued description is indented further than any option.
constexpr size_t largest_indent = 8;

size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

bool is_option(std::string_view line) {
  const auto indent = indent_of(line);
  return indent > 0 && indent <= largest_indent && line.substr(indent).starts_with('-');
}

// The texts before and after the first two consecutive spaces.
std::pair<std::string, std::string> columns_of(std::string_view line) {
  line.remove_prefix(indent_of(line));
  const auto gap = std::min(line.find("  "), line.size());
  const auto rest = line.substr(gap);
  return {std::string(line.substr(0, gap)), std::string(rest.substr(indent_of(rest)))};
}

option option_of(std::string_view line) {
  const auto [names, what] = columns_of(line);
  option one;
  one.what = what;
  for (const auto& word : split(names, " ")) {
    if (word.starts_with('-')) {
      one.names.push_back(word.substr(0, word.find(',')));
    } else {
      one.value = word;
    }
  }
  return one;
}

option_group group_of(const std::vector<std::string>& lines) {
  option_group group;
  for (const auto& line : lines) {
    if (is_option(line)) {
      group.options.push_back(option_of(line));
    } else if (group.options.empty()) {
      group.heading = line;
    } else {
      auto& what = group.options.back().what;
      what += (what.empty() ? "" : " ") + line.substr(indent_of(line));
    }
  }
  return group;
}

void add_block(help& result, const std::vector<std::string>& lines) {
  const auto& first = lines.front();
  if (first.starts_with(example_start)) {
    for (const auto& line : lines) {
      const auto [words, what] = columns_of(line);
      result.examples.push_back({words, what});
    }
  } else if (first.starts_with(usage_start)) {
    for (const auto& line : lines) result.usage.push_back(line.substr(usage_start.size()));
  } else if (std::any_of(lines.begin(), lines.end(), is_option)) {
    result.groups.push_back(group_of(lines));
  } else if (result.summary.empty()) {
    result.summary = join(lines, " ");
  } else {
    result.paragraphs.push_back(join(lines, " "));
  }
}

}  // namespace

help parse_help(std::string_view text) {
  help found;
  std::vector<std::string> block;
  for (const auto& line : split(text, "\n")) {
    if (!line.empty()) {
      block.push_back(line);
    } else if (!block.empty()) {
      add_block(found, block);
      block.clear();
    }
  }
  if (!block.empty()) add_block(found, block);
  return found;
}

}  // namespace mortise::cli::manual
