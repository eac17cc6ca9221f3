// The manual of imaginary commands, whose options no real command has.
#include <gtest/gtest.h>

#include <stdexcept>

#include "cli/arguments.hpp"
#include "cli/manual/command.hpp"
#include "cli/manual/completion.hpp"
#include "cli/manual/scdoc.hpp"

namespace mortise::cli::manual {
namespace {

constexpr const char* sort_help = R"HELP(Sorts.

  mortise sort
  mortise sort --by name   its best

Usage: mortise sort [OPTION...] NAME

How
      --by WORD    name or time. Each
                   is fine
      --to FOLDER  where to
  -h, --help       this text

All are sorted.
)HELP";

// The command with these options beyond --help, whatever `help` contains.
template <bool has_by, bool by_has_value>
int run(int argc, const char* const* argv) {
  CLI::App app;
  std::string by;
  std::string to;
  bool is_by = false;
  if (has_by && by_has_value) app.add_option("--by", by)->check(CLI::IsMember({"name", "time"}));
  if (has_by && !by_has_value) app.add_flag("--by", is_by);
  app.add_option("--to", to);
  app.add_option("NAME", by);
  return int{read_arguments(app, "sort", sort_help, argc, argv)};
}

int run_with_more(int argc, const char* const* argv) {
  CLI::App app;
  bool is_more = false;
  app.add_flag("--more", is_more);
  return int{read_arguments(
      app, "more", "More.\n\n  mortise more\n\nUsage: mortise more\n\n  -h, --help\n", argc, argv)};
}

TEST(manual, a_help_is_taken_apart) {
  const auto sort = describe({"sort", "sort", run<true, true>});
  EXPECT_EQ(sort.text.summary, "Sorts.");
  ASSERT_EQ(sort.text.examples.size(), 2U);
  EXPECT_EQ(sort.text.examples[1].line, "mortise sort --by name");
  EXPECT_EQ(sort.text.examples[1].what, "its best");
  ASSERT_EQ(sort.text.groups.size(), 1U);
  EXPECT_EQ(sort.text.groups[0].heading, "How");
  EXPECT_EQ(sort.text.groups[0].options[0].what, "name or time. Each is fine");
  EXPECT_EQ(sort.text.paragraphs, std::vector<std::string>{"All are sorted."});
  EXPECT_FALSE(sort.takes_command());
}

TEST(manual, one_of_a_few_values_is_completed) {
  const std::vector<command> all = {describe({"sort", "sort", run<true, true>})};
  const auto bash = bash_completion_of(all);
  EXPECT_NE(bash.find("--by) COMPREPLY=($(compgen -W 'name time' -- \"$cur\"))"),
            std::string::npos);
  EXPECT_NE(bash.find("--to) _filedir -d;"), std::string::npos);
  const auto zsh = zsh_completion_of(all);
  EXPECT_NE(zsh.find("'(--by)--by=[name or time]:WORD:(name time)'"), std::string::npos) << zsh;
  EXPECT_NE(zsh.find(":FOLDER:_files -/'"), std::string::npos);
}

TEST(manual, a_help_that_does_not_fit_the_options_is_refused) {
  EXPECT_THROW(describe({"sort", "sort", run<false, false>}), std::runtime_error);
  EXPECT_THROW(describe({"sort", "sort", run<true, false>}), std::runtime_error);
  EXPECT_THROW(describe({"more", "more", run_with_more}), std::runtime_error);
}

TEST(manual, markdown_is_shown_as_it_is_meant) {
  EXPECT_EQ(scdoc_of("## A b\n\nA *word*, **two**, `a_b *c*`,\nand [`d`](e.md).\n"),
            "# A B\n\nA *word*, *two*, *a\\_b \\*c\\**, and *d*.\n\n");
  EXPECT_EQ(scdoc_of("- one\n  more\n- two\n"), "- one more\n- two\n");
  EXPECT_EQ(scdoc_of("| a | b |\n|---|---|\n| `c` | d |\n"), "*c*\n\td\n\n");
}

}  // namespace
}  // namespace mortise::cli::manual
