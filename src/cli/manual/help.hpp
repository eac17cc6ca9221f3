// What a --help says, taken apart: the pages of the manual and the completions are made of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mortise::cli::manual {

struct option {
  std::vector<std::string> names;   // "-w", "--wait"
  std::string value;                // "TIME"; "" if it has none
  std::string what;                 // what it does
  std::vector<std::string> values;  // all that it may have, if these are few
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

// Its first line is the summary, then come examples. What is indented and begins with a dash is an
// option; two spaces are before what it does, and before what an example does.
help parse_help(std::string_view text);

}  // namespace mortise::cli::manual
