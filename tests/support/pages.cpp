#include "support/pages.hpp"

#include <iostream>
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

namespace {

constexpr const char* rule_start = "ACL SETUSER locker";

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream words(line);
  return {std::istream_iterator<std::string>(words), {}};
}

// The first rule that begins so, with each placeholder replaced.
std::vector<std::string> rule_on_page(const std::string& page, const std::string& start,
                                      const std::string& placeholder, const std::string& name) {
  auto text = open_page(page);
  std::string line;
  while (!line.starts_with(start)) {
    if (!std::getline(text, line)) throw std::runtime_error(page + " has no rule for the user");
  }
  for (auto at = line.find(placeholder); at != std::string::npos; at = line.find(placeholder, at)) {
    line.replace(at, placeholder.size(), name);
    at += name.size();
  }
  return words_of(line);
}

}  // namespace

std::vector<std::string> rights_on_page(const std::string& page, const std::string& name) {
  return rule_on_page(page, rule_start, "NAME", name);
}

std::vector<std::string> rights_in_namespace(const std::string& name) {
  return rule_on_page("docs/security.md", "ACL SETUSER billing", "billing", name);
}

std::vector<std::vector<std::string>> further_rights_on_page(const std::string& page) {
  auto text = open_page(page);
  std::vector<std::vector<std::string>> rules;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with(rule_start)) rules.push_back(words_of(line));
  }
  if (!rules.empty()) rules.erase(rules.begin());
  return rules;
}

bool bring_in_step(const std::string& page, const std::string& what, const std::string& lines,
                   bool is_to_write) {
  auto file = open_page(page);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto mention = text.find(what);
  const auto from = mention == std::string::npos ? mention : text.find("\n\n", mention);
  const auto to = from == std::string::npos ? from : text.find("\n\n", from + 2);
  if (to == std::string::npos) throw std::runtime_error(page + ": no place for " + what);
  if (text.compare(from + 2, to - from - 1, lines) == 0) return true;
  if (is_to_write) {
    text.replace(from + 2, to - from - 1, lines);
    std::ofstream(path_of(page)) << text;
    return true;
  }
  std::cerr << page << " is not in step with the sources: run " << what << "\n";
  return false;
}

}  // namespace mortise::testing
