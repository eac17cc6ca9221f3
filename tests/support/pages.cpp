#include "support/pages.hpp"

#include <iterator>
#include <sstream>
#include <stdexcept>

namespace mortise::testing {

std::string path_of(const std::string& page) { return std::string(MORTISE_SOURCES) + "/" + page; }

std::ifstream open_page(const std::string& page) {
  std::ifstream text(path_of(page));
  if (!text) throw std::runtime_error("there is no page " + page);
  return text;
}

std::vector<std::string> rights_on_page(const std::string& page, const std::string& name) {
  auto text = open_page(page);
  std::string line;
  while (!line.starts_with("ACL SETUSER locker")) {
    if (!std::getline(text, line)) throw std::runtime_error(page + " has no rule for the user");
  }
  const std::string placeholder = "NAME";
  for (auto at = line.find(placeholder); at != std::string::npos; at = line.find(placeholder, at)) {
    line.replace(at, placeholder.size(), name);
    at += name.size();
  }
  std::istringstream words(line);
  return {std::istream_iterator<std::string>(words), {}};
}

}  // namespace mortise::testing
