// A page of the manual in scdoc's format.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/manual/command.hpp"

namespace mortise::cli::manual {

// The sections of a Markdown page that belong to a page of the manual, by its name. The line after
// the heading is <!-- manual: mortise-exec -->.
std::map<std::string, std::string> sections_of(const std::string& markdown);

// The page of one subcommand, with references to the others. `sections` are in scdoc's format.
std::string page_of(const command& one, const std::vector<command>& all,
                    const std::string& sections);

}  // namespace mortise::cli::manual
