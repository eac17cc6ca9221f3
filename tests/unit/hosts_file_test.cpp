// The names of tests that run at once, in one file.
#include "support/hosts_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <list>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "support/child.hpp"

namespace mortise::testing::hosts_file_test {
namespace {

constexpr const char* others = "127.0.0.1\tlocalhost\n# of the host\n\n10.0.0.1 other.test\n";

// Where the name leads to, each address with a space behind it.
std::string addresses_of(const std::string& name, const std::string& text) {
  std::string addresses;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string address;
    std::string named;
    words >> address >> named;
    if (named == name && !address.starts_with('#')) addresses += address + " ";
  }
  return addresses;
}

class hosts_file_test : public ::testing::Test {
 protected:
  hosts_file_test() {
    const int fd = ::mkstemp(path_.data());
    if (fd < 0) throw std::system_error(errno, std::generic_category(), path_);
    ::close(fd);
    std::ofstream(path_) << others;
  }
  ~hosts_file_test() override { ::unlink(path_.c_str()); }
  [[nodiscard]] std::string text() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

  std::string path_ = ::testing::TempDir() + "mortise-hosts-XXXXXX";
};

TEST_F(hosts_file_test, a_name_comes_moves_and_leaves_nothing_behind) {
  hosts_file file(path_);
  const auto name = hosts_file::own_name();
  file.lead(name, {"127.0.0.1"});
  EXPECT_EQ(others + ("127.0.0.1       " + name + "\n"), text());
  file.lead(name, {"127.0.0.200", "127.0.0.3"});
  EXPECT_EQ(others + ("127.0.0.200     " + name + "\n127.0.0.3       " + name + "\n"), text());
  file.lead(name, {});
  EXPECT_EQ(others, text());
}

TEST_F(hosts_file_test, another_address_is_written_where_the_old_one_was) {
  const auto name = hosts_file::own_name();
  const auto first = with_lines(others, name, {"127.0.0.1"}) + "10.0.0.2 last.test\n";
  const auto second = with_lines(first, name, {"127.0.0.2"});
  EXPECT_EQ(first.size(), second.size());
  EXPECT_EQ(first.find("127.0.0.1       "), second.find("127.0.0.2       "));
  // What follows a line that is removed does not move, either.
  EXPECT_EQ(first.find("last.test"), with_lines(second, name, {}).find("last.test"));
}

TEST_F(hosts_file_test, a_file_without_an_end_of_its_last_line_keeps_that_line) {
  const auto name = hosts_file::own_name();
  EXPECT_EQ("10.0.0.1 last\n127.0.0.1       " + name + "\n",
            with_lines("10.0.0.1 last", name, {"127.0.0.1"}));
}

TEST_F(hosts_file_test, processes_that_change_it_at_once_keep_each_others_lines) {
  constexpr int processes = 8;
  constexpr int rounds = 300;
  std::list<child> all;
  for (int i = 0; i < processes; ++i) {
    all.emplace_back([&](child_end& test) {
      hosts_file file(path_);
      const auto name = hosts_file::own_name();
      std::string complaint;
      for (int round = 0; round < rounds && complaint.empty(); ++round) {
        const auto address = "127.0.0." + std::to_string(round % 200 + 1);
        file.lead(name, {address});
        const auto now = text();
        if (!now.starts_with(others) || addresses_of(name, now) != address + " ")
          complaint = "round " + std::to_string(round) + ": " + addresses_of(name, now);
        if (round % 3 == 0) file.lead(name, {});
      }
      file.lead(name, {});
      test.send(complaint.empty() ? "done" : complaint);
    });
  }
  for (auto& one : all) EXPECT_EQ("done", one.receive());
  EXPECT_EQ(others, text());
}

TEST_F(hosts_file_test, the_line_of_a_process_that_died_is_removed_by_the_next) {
  child doomed([&](child_end& test) {
    hosts_file(path_).lead(hosts_file::own_name(), {"127.0.0.9"});
    test.send("written");
    test.receive();
  });
  ASSERT_EQ("written", doomed.receive());
  hosts_file file(path_);
  file.lead(hosts_file::own_name(), {"127.0.0.1"});
  EXPECT_NE(text().find("127.0.0.9 "), std::string::npos) << "it lives";
  doomed.kill();
  file.lead(hosts_file::own_name(), {"127.0.0.2"});
  EXPECT_EQ(text().find("127.0.0.9 "), std::string::npos);
  file.lead(hosts_file::own_name(), {});
  EXPECT_EQ(others, text());
}

TEST_F(hosts_file_test, a_file_that_cannot_be_opened_is_named_with_the_reason) {
  hosts_file file(path_ + "/none");
  try {
    file.lead(hosts_file::own_name(), {"127.0.0.1"});
    FAIL() << "it was written";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ("cannot open " + path_ + "/none: Not a directory", error.what());
  }
}

}  // namespace
}  // namespace mortise::testing::hosts_file_test
