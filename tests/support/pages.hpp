// What the project's pages promise, read from them, so that it is that which is tested.
#pragma once

#include <fstream>
#include <string>
#include <vector>

namespace mortise::testing {

// A page is named by its path from the top of the sources.
std::string path_of(const std::string& page);
std::ifstream open_page(const std::string& page);

// The words of the ACL rule for the user `locker` on a page. Each NAME in it is replaced by `name`.
std::vector<std::string> rights_on_page(const std::string& page, const std::string& name = "NAME");
// The words of the ACL rule of docs/security.md for the user of this namespace.
std::vector<std::string> rights_in_namespace(const std::string& name);
// The page's other rules for that user, for servers that know them. Other servers return an error.
std::vector<std::vector<std::string>> further_rights_on_page(const std::string& page);

// The lines of a page from the first empty line behind a mention of `what` to the next empty one
// are to be these. True when they are, or have been written.
bool bring_in_step(const std::string& page, const std::string& what, const std::string& lines,
                   bool is_to_write);

}  // namespace mortise::testing
