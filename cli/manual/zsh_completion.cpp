#include <regex>

#include "cli/manual/completion.hpp"
#include "cli/manual/text.hpp"

namespace mortise::cli::manual {
namespace {

constexpr const char* zsh_start = R"ZSH(#compdef mortise
# Zsh completion of mortise, generated from its --help.

)ZSH";

// Arguments after -- complete like a command of their own.
constexpr const char* zsh_command_after = R"ZSH(  local at=${words[(ie)--]}
  if ((at < CURRENT)); then
    shift $at words
    ((CURRENT -= at))
    _normal
    return
  fi
)ZSH";

constexpr const char* zsh_end = R"ZSH(
_mortise() {
  local -a subcommands=(
@COMMANDS@  )
  if ((CURRENT == 2)); then
    _describe command subcommands
    return
  fi
  shift words
  ((CURRENT -= 1))
  if (($+functions[_mortise_$words[1]])); then _mortise_$words[1]; fi
}

_mortise "$@"
)ZSH";

std::string quote(const std::string& text) { return "'" + replace(text, "'", "'\\''") + "'"; }

// The first sentence or half-sentence of a description, to fit into a line.
std::string hint_of(const std::string& what) {
  static const std::regex rest(R"(;.*|([a-zA-Z])\. .*)");
  const auto hint = std::regex_replace(what, rest, "$1");
  return replace(replace(hint, "[", "\\["), "]", "\\]");
}

std::string zsh_action_of(const option& one) {
  if (!one.values.empty()) return "(" + join(one.values, " ") + ")";
  if (one.value == "FILE") return "_files";
  return one.value == "FOLDER" ? "_files -/" : " ";
}

std::string specification_of(const option& one) {
  const bool has_value = !one.value.empty();
  const auto excluded = "(" + join(one.names, " ") + ")";
  auto rest = "[" + hint_of(one.what) + "]";
  if (has_value) rest += ":" + one.value + ":" + zsh_action_of(one);
  std::string lines;
  for (const auto& name : one.names) {
    auto text = excluded;
    text += name;
    if (has_value) text += name.starts_with("--") ? "=" : "+";
    lines += " \\\n    " + quote(text + rest);
  }
  return lines;
}

std::string function_of(const command& one) {
  std::string text = "_mortise_" + one.name + "() {\n";
  if (one.takes_command()) text += zsh_command_after;
  text += "  _arguments -s";
  bool takes_name = false;
  for (const auto& group : one.text.groups) {
    for (const auto& option : group.options) text += specification_of(option);
  }
  for (const auto& usage : one.text.usage) takes_name |= usage.find(" NAME") != std::string::npos;
  if (takes_name) text += " \\\n    '*:NAME:_guard \"^-*\" NAME'";
  return text + "\n}\n";
}

}  // namespace

std::string zsh_completion_of(const std::vector<command>& all) {
  std::string functions;
  std::string words;
  const auto add = [&words](const std::string& name, const std::string& what) {
    words += "    " + quote(name + ":" + what) + "\n";
  };
  for (const auto& one : all) {
    if (one.name.empty()) continue;
    functions += function_of(one);
    add(one.name, one.what);
  }
  for (const auto* const word : {"help", "-h", "--help"}) add(word, "print the help");
  add("--version", "print the version");
  return zsh_start + functions + replace(zsh_end, "@COMMANDS@", words);
}

}  // namespace mortise::cli::manual
