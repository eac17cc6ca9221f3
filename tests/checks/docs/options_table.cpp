// options [--write]: the texts that follow from the table of options, src/base/options.cpp: its
// rows on the page docs/options.md, and the keys in the header. Reports whether they are in step
// with it, or writes them.
#include "base/options.hpp"

#include <algorithm>
#include <cctype>
#include <iostream>
#include <stdexcept>

#include "support/pages.hpp"

namespace {

using mortise::option;

constexpr std::size_t longest_line = 100;

std::string code(const std::string& text) { return "`" + text + "`"; }
std::string quoted(const std::string& text) { return "\"" + text + "\""; }

// ---- a row of the page -----------------------------------------------------------------------

std::string shown(const option::number& of) {
  const auto range = code(of.unit->write(of.least)) + " to " + code(of.unit->write(of.most)) +
                     (of.unit->name == std::string("us") ? " µs" : "");
  return of.beyond != nullptr ? range + ", " + code(of.beyond) : range;
}
std::string shown(const option::toggle& either) {
  return code(either.on) + ", " + code(either.off);
}
std::string shown(const option::choice& among) {
  std::string words;
  for (const auto* word : among.words) words += (words.empty() ? "" : ", ") + code(word);
  return words;
}
std::string shown(const option::text& kind) {
  return std::string(kind.form) + ", at most " + std::to_string(kind.most_bytes) + " bytes";
}

std::string shown(option::taker whose) {
  switch (whose) {
    case option::taker::client:
      return "client";
    case option::taker::server:
      return "client, for one server";
    case option::taker::every_lock:
      return "every lock";
    case option::taker::mutex:
      return "mutex";
    case option::taker::rw:
      return "read-write lock";
    case option::taker::mutex_and_rw:
      return "mutex, read-write lock";
  }
  throw std::logic_error("a taker without a word");
}

std::string row_of_page(const option& row) {
  const std::string preset = row.preset;
  const auto values = std::visit([](const auto& kind) { return shown(kind); }, row.values);
  return "| " + code(row.key) + " | " + (preset.empty() ? "–" : code(preset)) + " | " + values +
         " | " + shown(row.whose) + " | " + row.help + " |\n";
}

// ---- a key of the header ---------------------------------------------------------------------

std::string suffix_of(const option::number& of) {
  return std::string(": ") + of.unit->form +
         (of.beyond != nullptr ? " or " + quoted(of.beyond) : "");
}
std::string suffix_of(const option::toggle& either) {
  return ": " + quoted(either.on) + " or " + quoted(either.off);
}
std::string suffix_of(const option::choice& among) {
  return ", such as " + quoted(among.words.front());
}
std::string suffix_of(const option::text& /*kind*/) { return ""; }

std::string key_of_header(const option& row) {
  std::string upper = row.key;
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  const auto values = std::visit([](const auto& kind) { return suffix_of(kind); }, row.values);
  const bool is_client_only =
      row.whose == option::taker::client || row.whose == option::taker::server;
  const auto comment =
      "/** " + (row.help + values) + "." + (is_client_only ? " A client's only." : "") + " */";
  if (comment.size() > longest_line) throw std::runtime_error(row.key + (": shorten " + comment));
  return comment + "\n#define MORTISE_OPTION_" + upper + " " + quoted(row.key) + "\n";
}

}  // namespace

int main(int count, char** arguments) try {
  const bool is_to_write = count > 1 && arguments[1] == std::string("--write");
  std::string page =
      "| option | default | values | whose | what it is |\n"
      "|---|---|---|---|---|\n";
  std::string header;
  for (const auto& row : mortise::known_options()) {
    page += row_of_page(row);
    header += key_of_header(row);
  }
  using mortise::testing::bring_in_step;
  const std::string what = "./dev generate";
  const bool is_page = bring_in_step("docs/options.md", what, page, is_to_write);
  const bool is_header = bring_in_step("capi/include/mortise/mortise.h", what, header, is_to_write);
  return is_page && is_header ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "options: " << error.what() << "\n";
  return 1;
}
