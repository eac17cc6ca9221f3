#include "cli/manual/page.hpp"

#include <mortise/mortise.h>

#include <algorithm>
#include <stdexcept>

#include "cli/manual/scdoc.hpp"
#include "cli/manual/text.hpp"

namespace mortise::cli::manual {
namespace {

std::string synopsis_of(const std::string& usage) {
  // Words before the first placeholder are literal.
  const auto end = usage.find_first_of("[ABCDEFGHIJKLMNOPQRSTUVWXYZ-");
  const auto start = usage.substr(0, end);
  if (end == std::string::npos) return bold(usage) + "\n\n";
  return bold(start.substr(0, start.size() - 1)) + " " + escape(usage.substr(end)) + "\n\n";
}

std::string options_of(const std::vector<option_group>& groups) {
  std::string text;
  for (const auto& group : groups) {
    if (!group.heading.empty()) text += "## " + escape(group.heading) + "\n\n";
    for (const auto& option : group.options) {
      std::vector<std::string> names;
      for (const auto& name : option.names) names.push_back(bold(name));
      text += join(names, ", ") + (option.value.empty() ? "" : " " + escape(option.value));
      text += "\n\t" + line_of(escape(option.what)) + "\n";
    }
  }
  return text;
}

std::string examples_of(const std::vector<example>& examples) {
  std::string text;
  for (const auto& one : examples) {
    text += bold(one.line) + "\n";
    text += one.what.empty() ? "\n" : "\t" + line_of(escape(one.what)) + "\n";
  }
  return text;
}

std::string commands_of(const std::vector<command>& all) {
  std::string text;
  for (const auto& one : all) {
    if (!one.name.empty())
      text += bold(one.page_name()) + "(1)\n\t" + line_of(escape(one.what)) + "\n";
  }
  return text;
}

std::string others_of(const command& one, const std::vector<command>& all) {
  std::vector<std::string> names;
  for (const auto& other : all) {
    if (other.name != one.name) names.push_back(bold(other.page_name()) + "(1)");
  }
  return join(names, ", ") + "\n";
}

}  // namespace

std::map<std::string, std::string> sections_of(const std::string& markdown) {
  constexpr std::string_view mark = "<!-- manual: ";
  constexpr std::string_view mark_end = " -->";
  std::map<std::string, std::string> sections;
  const auto parts = split("\n" + markdown, "\n## ");
  for (size_t index = 1; index < parts.size(); ++index) {
    auto lines = split(parts[index], "\n");
    if (lines.size() < 2 || !lines[1].starts_with(mark)) continue;
    if (parts[index].find("\n```") != std::string::npos) {
      throw std::runtime_error("section \"" + lines[0] +
                               "\": no code blocks in the manual; remove them");
    }
    const auto words =
        lines[1].substr(mark.size(), lines[1].size() - mark.size() - mark_end.size());
    const auto end = std::min(words.find(' '), words.size());
    if (end < words.size()) lines[0] = words.substr(end + 1);
    lines[1].clear();
    sections[words.substr(0, end)] += scdoc_of("## " + join(lines, "\n"));
  }
  return sections;
}

std::string page_of(const command& one, const std::vector<command>& all,
                    const std::string& sections) {
  const auto& help = one.text;
  auto page = one.page_name() + "(1) \"mortise " + mortise_version_text() + "\"\n\n";
  page += "# NAME\n\n" + one.page_name() + " - " + escape(one.what) + "\n\n# SYNOPSIS\n\n";
  for (const auto& usage : help.usage) page += synopsis_of(usage);
  page += "# DESCRIPTION\n\n" + line_of(escape(help.summary)) + "\n";
  for (const auto& paragraph : help.paragraphs) page += line_of(escape(paragraph)) + "\n";
  if (one.name.empty()) page += "# COMMANDS\n\n" + commands_of(all);
  if (!help.groups.empty()) page += "# OPTIONS\n\n" + options_of(help.groups);
  page += sections;
  page += "# EXAMPLES\n\n" + examples_of(help.examples);
  return page + "# SEE ALSO\n\n" + others_of(one, all);
}

}  // namespace mortise::cli::manual
