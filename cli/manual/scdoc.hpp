// Conversion of texts and Markdown to scdoc(5).
#pragma once

#include <string>

namespace mortise::cli::manual {

// Escapes a text.
std::string escape(const std::string& text);
// Escapes a whole line, which could look like a heading, an item or a table.
std::string line_of(const std::string& text);
// *text*, which is bold.
std::string bold(const std::string& text);

// Converts paragraphs, lists, tables, code blocks and headings of Markdown. A table becomes a list
// of its first column with the texts of the second.
std::string scdoc_of(const std::string& markdown);

}  // namespace mortise::cli::manual
