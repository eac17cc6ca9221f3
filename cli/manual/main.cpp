// Writes the manual of the command `mortise`: pages for scdoc, from the command's own help texts,
// and shell completions.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "cli/manual/command.hpp"
#include "cli/manual/completion.hpp"
#include "cli/manual/page.hpp"

namespace mortise::cli::manual {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  if (!(file << text << std::flush)) throw std::runtime_error("cannot write " + path.string());
}

void write_all(const std::filesystem::path& folder, const std::filesystem::path& markdown) {
  const auto all = commands();
  auto sections = sections_of(read(markdown));
  for (const auto& one : all) {
    const auto own = sections.extract(one.page_name());
    const auto text = page_of(one, all, own.empty() ? "" : own.mapped());
    write(folder / (one.page_name() + ".1.scd"), text);
  }
  if (!sections.empty()) {
    throw std::runtime_error("unknown page \"" + sections.begin()->first +
                             "\" in a mark of a section");
  }
  write(folder / "mortise", bash_completion_of(all));
  write(folder / "_mortise", zsh_completion_of(all));
}

}  // namespace
}  // namespace mortise::cli::manual

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: mortise_manual FOLDER docs/command.md\n", stderr);
    return 2;
  }
  try {
    mortise::cli::manual::write_all(argv[1], argv[2]);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "mortise_manual: %s\n", problem.what());
    return 1;
  }
  return 0;
}
