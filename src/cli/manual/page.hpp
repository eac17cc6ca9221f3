// A page of the manual, as scdoc reads it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/manual/command.hpp"

namespace mortise::cli::manual {

// The sections of a Markdown page that are marked for a page of the manual, by that page's name:
// the line after the heading is <!-- manual: mortise-exec -->.
std::map<std::string, std::string> sections_of(const std::string& markdown);

// That of one of them, which names the others; `sections` are in scdoc's format.
std::string page_of(const command& one, const std::vector<command>& all,
                    const std::string& sections);

}  // namespace mortise::cli::manual
