#include "cli/manual/command.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "cli/arguments.hpp"
#include "cli/manual/text.hpp"

namespace mortise::cli::manual {
namespace {

struct taken_option {
  bool has_value;
  std::vector<std::string> values;
};

// The subcommand being described.
struct shown_command {
  std::map<std::string, taken_option> options;
  std::string help;
} shown;

// CLI11 puts the members of a set into the name of a type: "TEXT:{a,b}".
std::vector<std::string> values_of(const std::string& type) {
  const auto start = type.find('{');
  const auto end = type.find('}', start);
  if (start == std::string::npos || end == std::string::npos) return {};
  return split(std::string_view(type).substr(start + 1, end - start - 1), ",");
}

void take(const CLI::App& app, const char* help) {
  shown.help = help;
  for (const auto* option : app.get_options()) {
    const taken_option one = {option->get_expected_max() != 0, values_of(option->get_type_name())};
    for (const auto& name : option->get_snames()) shown.options["-" + name] = one;
    for (const auto& name : option->get_lnames()) shown.options["--" + name] = one;
  }
}

[[noreturn]] void refuse(const std::string& command, const std::string& option, const char* what) {
  throw std::runtime_error("mortise " + command + ": " + option + " " + what);
}

// Checks that the help and the parser have the same options.
void reconcile(const std::string& name, option& one, std::map<std::string, taken_option>& taken) {
  for (const auto& spelling : one.names) {
    const auto node = taken.extract(spelling);
    if (node.empty()) refuse(name, spelling, "is in the --help, but is no option");
    if (node.mapped().has_value == one.value.empty()) {
      refuse(name, spelling, "takes a value, but has none in the --help, or vice versa");
    }
    one.values = node.mapped().values;
  }
}

}  // namespace

command describe(const subcommand& one) {
  observe_command_lines(take);
  shown = {};
  command described = {std::string(one.name), one.what, {}};
  const char* const words = one.name.data();
  run_subcommand(words, one.run, 1, &words);
  described.text = parse_help(shown.help);
  for (auto& group : described.text.groups) {
    for (auto& option : group.options) reconcile(described.name, option, shown.options);
  }
  if (!shown.options.empty()) {
    refuse(described.name, shown.options.begin()->first, "is missing in the --help");
  }
  if (described.text.examples.empty() || described.text.usage.empty()) {
    refuse(described.name, "--help", "has no example or no usage");
  }
  return described;
}

bool command::takes_command() const {
  return std::any_of(text.usage.begin(), text.usage.end(), [](const std::string& line) {
    return line.find(" -- COMMAND") != std::string::npos;
  });
}

std::vector<command> commands() {
  std::vector<command> all = {
      {"", "distributed locks on the command line", parse_help(main_help())}};
  for (const auto& one : subcommands()) all.push_back(describe(one));
  // Examples in a help become a list.
  auto& main = all.front().text;
  main.examples.resize(1);
  main.usage = {"mortise COMMAND [OPTION...]", "mortise COMMAND --help", "mortise --version"};
  return all;
}

}  // namespace mortise::cli::manual
