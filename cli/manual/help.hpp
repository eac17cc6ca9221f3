// A parsed --help text, from which the manual pages and completions are written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mortise::cli::manual {

struct option {
  std::vector<std::string> names;   // "-w", "--wait"
  std::string value;                // "TIME"; "" if it has none
  std::string what;                 // its description
  std::vector<std::string> values;  // all possible values, if these are few
};

struct option_group {
  std::string heading;  // may be ""
  std::vector<option> options;
};

struct example {
  std::string line;
  std::string what;  // may be ""
};

struct help {
  std::string summary;
  std::vector<example> examples;
  std::vector<std::string> usage;
  std::vector<std::string> paragraphs;
  std::vector<option_group> groups;
};

// The first line is the summary. Examples follow. An indented line with a dash is an option. Two
// spaces precede the description of an option or an example.
help parse_help(std::string_view text);

}  // namespace mortise::cli::manual
