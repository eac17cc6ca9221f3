#include "cli/manual/completion.hpp"
#include "cli/manual/text.hpp"

namespace mortise::cli::manual {
namespace {

constexpr const char* bash_start = R"BASH(# Bash completion of mortise, generated from its --help.
# shellcheck shell=bash disable=SC2207 # No word has a space.

_mortise() {
  local cur prev words cword split at options=''
  _init_completion -s -n : || return
  if ((cword == 1)); then
    COMPREPLY=($(compgen -W '@COMMANDS@' -- "$cur"))
    return
  fi
  case ${words[1]} in
)BASH";

// Arguments after -- complete like a command of their own.
constexpr const char* bash_command_after = R"BASH(      for ((at = 2; at < COMP_CWORD; ++at)); do
        if [[ ${COMP_WORDS[at]} == -- ]]; then
          _command_offset $((at + 1))
          return
        fi
      done
)BASH";

constexpr const char* bash_end = R"BASH(  esac
  if [[ $split != true ]]; then COMPREPLY=($(compgen -W "$options" -- "$cur")); fi
} && complete -F _mortise mortise
)BASH";

// "" where the possible values are unknown.
std::string bash_action_of(const option& one) {
  if (!one.values.empty()) {
    return "COMPREPLY=($(compgen -W '" + join(one.values, " ") + "' -- \"$cur\"))";
  }
  if (one.value == "FILE") return "_filedir";
  return one.value == "FOLDER" ? "_filedir -d" : "";
}

// The values after an option: `case` lines for options with known values, and one line for the
// rest.
std::string values_case_of(const std::vector<option_group>& groups) {
  std::string known;
  std::vector<std::string> unknown;
  for (const auto& group : groups) {
    for (const auto& option : group.options) {
      const auto names = join(option.names, " | ");
      const auto action = bash_action_of(option);
      if (!action.empty()) {
        known.append("        ").append(names).append(") ").append(action).append("; return ;;\n");
      } else if (!option.value.empty()) {
        unknown.push_back(names);
      }
    }
  }
  if (!unknown.empty()) known += "        " + join(unknown, " | ") + ") return ;;\n";
  return known.empty() ? "" : "      case $prev in\n" + known + "      esac\n";
}

std::string case_of(const command& one) {
  std::vector<std::string> names;
  for (const auto& group : one.text.groups) {
    for (const auto& option : group.options) {
      names.insert(names.end(), option.names.begin(), option.names.end());
    }
  }
  std::string text = "    " + one.name + ")\n";
  if (one.takes_command()) {
    text += bash_command_after;
    names.emplace_back("--");
  }
  text += values_case_of(one.text.groups);
  return text + "      options='" + join(names, " ") + "'\n      ;;\n";
}

}  // namespace

std::string bash_completion_of(const std::vector<command>& all) {
  std::vector<std::string> words = {"help", "-h", "--help", "--version"};
  std::string cases;
  for (const auto& one : all) {
    if (one.name.empty()) continue;
    words.push_back(one.name);
    cases += case_of(one);
  }
  return replace(bash_start, "@COMMANDS@", join(words, " ")) + cases + bash_end;
}

}  // namespace mortise::cli::manual
