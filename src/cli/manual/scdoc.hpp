// The format of scdoc(5), of texts and of Markdown.
#pragma once

#include <string>

namespace mortise::cli::manual {

// So that it is read as it is written.
std::string escape(const std::string& text);
// Such a text as a line, which could look like a heading, an item or a table.
std::string line_of(const std::string& text);
// *text*, which is bold.
std::string bold(const std::string& text);

// Paragraphs, lists, tables, blocks of code and headings of Markdown. A table becomes a list, of
// its first column and what the second says of it.
std::string scdoc_of(const std::string& markdown);

}  // namespace mortise::cli::manual
