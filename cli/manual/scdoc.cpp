#include "cli/manual/scdoc.hpp"

#include <cctype>
#include <regex>
#include <vector>

#include "cli/manual/text.hpp"

namespace mortise::cli::manual {
namespace {

// `code`, *this* and **this** become bold. [this](place) becomes its text.
std::string inline_of(const std::string& markdown) {
  static const std::regex link(R"(\[([^\]]*)\]\([^)]*\))");
  static const std::regex escaped_emphasis(R"((?:\\\*)+([^*\\]+)(?:\\\*)+)");
  std::string result;
  bool is_code = false;
  for (const auto& part : split(std::regex_replace(markdown, link, "$1"), "`")) {
    result += is_code ? bold(part) : std::regex_replace(escape(part), escaped_emphasis, "*$1*");
    is_code = !is_code;
  }
  return result;
}

std::string upper_of(std::string text) {
  for (auto& letter : text) {
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  return text;
}

// A row "| a | b |" of a table. Its second line has no words.
std::string row_of(const std::string& line) {
  const auto cells = split(line, "|");
  if (cells.size() < 4 || line.find_first_not_of("|-: ") == std::string::npos) return "";
  const auto trimmed = [](const std::string& cell) { return cell.substr(1, cell.size() - 2); };
  return line_of(inline_of(trimmed(cells[1]))) + "\t" + line_of(inline_of(trimmed(cells[2]))) +
         "\n";
}

bool is_item(const std::string& line) { return line.starts_with("- "); }

// Lines up to an empty line or the next item of a list.
class paragraph {
 public:
  void add(const std::string& line) { lines_.push_back(line); }
  std::string take() {
    if (lines_.empty()) return "";
    const bool is_in_list = is_item(lines_.front());
    if (is_in_list) lines_.front().erase(0, 2);
    std::vector<std::string> words;
    for (const auto& line : lines_) words.push_back(line.substr(line.find_first_not_of(' ')));
    lines_.clear();
    const auto text = line_of(inline_of(join(words, " ")));
    return is_in_list ? "- " + text : text + "\n";
  }

 private:
  std::vector<std::string> lines_;
};

}  // namespace

std::string escape(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (std::string_view("\\*_").find(letter) != std::string_view::npos) result += '\\';
    result += letter;
  }
  return result;
}

std::string line_of(const std::string& text) {
  const bool is_special =
      !text.empty() && std::string_view("#-|[].;+").find(text[0]) != std::string_view::npos;
  return (is_special ? "\\" : "") + text + "\n";
}

std::string bold(const std::string& text) { return "*" + escape(text) + "*"; }

std::string scdoc_of(const std::string& markdown) {
  std::string result;
  paragraph open;
  bool has_heads = false;
  for (const auto& line : split(markdown, "\n")) {
    const bool is_row = line.starts_with("|");
    const bool is_heading = line.starts_with("##");
    if (line.empty() || is_item(line) || is_row || is_heading) result += open.take();
    if (is_heading) {
      const bool is_sub = line.starts_with("###");
      result += is_sub ? "## " + inline_of(line.substr(4)) : "# " + upper_of(line.substr(3));
      result += "\n\n";
    } else if (is_row) {
      // The first row has the heads.
      result += has_heads ? row_of(line) : "";
    } else if (!line.empty()) {
      open.add(line);
    }
    has_heads = is_row;
  }
  return result + open.take();
}

}  // namespace mortise::cli::manual
