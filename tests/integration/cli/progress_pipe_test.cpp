#include "cli/exec/process/progress_pipe.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace mortise::cli::exec {
namespace {

TEST(progress_pipe, a_command_that_writes_all_the_time_does_not_keep_the_reader) {
  progress_pipe reports;
  const int endless = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(reports.descriptor(), ::dup2(endless, reports.descriptor()));
  ::close(endless);
  EXPECT_TRUE(reports.take());
}

TEST(progress_pipe, takes_each_report_once) {
  progress_pipe reports;
  EXPECT_FALSE(reports.take());
  const int writer = ::open(reports.path().c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(1, ::write(writer, "x", 1));
  ::close(writer);
  EXPECT_TRUE(reports.take());
  EXPECT_FALSE(reports.take());
}

}  // namespace
}  // namespace mortise::cli::exec
