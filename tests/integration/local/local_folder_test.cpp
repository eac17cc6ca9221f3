// The cases that `local:` refuses or cannot serve, and its messages.
#include "integration/local/local_fixture.hpp"

namespace mortise::local::local_folder_test {
namespace {

TEST_F(local_server_test, refuses_a_folder_that_others_can_enter) {
  ASSERT_EQ(::mkdir(settings_.folder.c_str(), 0700), 0);
  ASSERT_EQ(::chmod(settings_.folder.c_str(), 0750), 0);
  const auto result = ensure();
  EXPECT_EQ(result.code, status::refused);
  EXPECT_NE(result.message.find(settings_.folder), std::string::npos) << result.message;
  EXPECT_NE(result.message.find("chmod 700"), std::string::npos) << result.message;
  EXPECT_EQ(server_count(), 0U);
}

TEST_F(local_server_test, refuses_a_link_and_a_file) {
  std::filesystem::create_directory(base_ + "/elsewhere");
  std::filesystem::create_directory_symlink(base_ + "/elsewhere", settings_.folder);
  auto result = ensure();
  EXPECT_EQ(result.code, status::refused);
  EXPECT_NE(result.message.find("is a link or a file"), std::string::npos) << result.message;
  EXPECT_TRUE(std::filesystem::is_empty(base_ + "/elsewhere"));

  std::filesystem::remove(settings_.folder);
  std::ofstream(settings_.folder) << "a file";
  result = ensure();
  EXPECT_EQ(result.code, status::refused);
  EXPECT_NE(result.message.find(settings_.folder), std::string::npos) << result.message;
}

TEST_F(local_server_test, refuses_a_folder_of_somebody_else) {
  if (::geteuid() == 0) {
    ASSERT_EQ(::mkdir(settings_.folder.c_str(), 0700), 0);
    ASSERT_EQ(::chown(settings_.folder.c_str(), 65'534, 65'534), 0);
  } else {
    settings_.folder = "/usr";
  }
  const auto result = ensure();
  EXPECT_EQ(result.code, status::refused);
  EXPECT_NE(result.message.find("belongs to user"), std::string::npos) << result.message;
}

TEST_F(local_server_test, refuses_a_path_that_cannot_be_a_socket) {
  settings_.folder = base_ + "/" + std::string(120, 'x');
  const auto result = ensure();
  EXPECT_EQ(result.code, status::invalid_argument);
  EXPECT_NE(result.message.find("MORTISE_LOCAL_DIR"), std::string::npos) << result.message;
  settings_.folder = "relative";
  EXPECT_EQ(ensure().code, status::invalid_argument);
}

// A library must not run what happens to lie in the current folder.
TEST_F(local_server_test, looks_for_programs_only_in_folders_with_a_full_path) {
  const auto before = std::filesystem::current_path();
  std::filesystem::create_directory(base_ + "/relative");
  for (const char* name :
       {"redis-server", "redis-cli", "relative/redis-server", "relative/redis-cli"}) {
    write_program(name, "#!/bin/sh\n");
  }
  std::filesystem::current_path(base_);
  settings_.search_path = "relative:.::./relative:";
  const auto result = ensure();
  std::filesystem::current_path(before);
  EXPECT_EQ(result.code, status::unreachable);
  EXPECT_NE(result.message.find("apt-get install redis-server"), std::string::npos)
      << result.message;
}

TEST_F(local_server_test, says_what_to_install) {
  settings_.search_path = base_;
  auto result = ensure();
  EXPECT_EQ(result.code, status::unreachable);
  EXPECT_NE(result.message.find("apt-get install redis-server"), std::string::npos)
      << result.message;
  write_program("redis-server", "#!/bin/sh\n");
  result = ensure();
  EXPECT_EQ(result.code, status::unreachable);
  EXPECT_NE(result.message.find("apt-get install redis-tools"), std::string::npos)
      << result.message;
}

TEST_F(local_server_test, says_why_the_server_did_not_start) {
  // Looked for before redis-server, in all folders.
  write_program("valkey-server", "#!/bin/sh\necho all is well\necho the moon stands in the way\n");
  settings_.search_path = base_ + ":" + settings_.search_path;
  const time_ns before = boot_now();
  const auto result = ensure();
  EXPECT_EQ(result.code, status::unreachable);
  EXPECT_NE(result.message.find("did not start: the moon stands in the way"), std::string::npos)
      << result.message;
  EXPECT_LT(boot_now() - before, start_limit_ns) << "it was waited for until the deadline";
}

// A process with a copy of the descriptor lives on, like one that was forked while it was open.
TEST_F(local_server_test, a_server_that_did_not_start_leaves_no_lock) {
  const auto programs = settings_.search_path;
  write_program("valkey-server", "#!/bin/sh\n");
  write_program("valkey-cli", "#!/bin/sh\ntail -f \"$0\" </dev/null >/dev/null 2>&1 &\n");
  settings_.search_path = base_ + ":" + programs;
  EXPECT_EQ(ensure().code, status::unreachable);
  EXPECT_FALSE(processes_with("valkey-cli").empty());
  settings_.search_path = programs;
  const auto result = ensure();
  EXPECT_TRUE(result.ok()) << result.message;
}

TEST_F(local_server_test, keeps_its_deadline) {
  write_program("valkey-server", "#!/bin/sh\nexec tail -f \"$0\"\n");
  settings_.search_path = base_ + ":" + settings_.search_path;
  const time_ns before = boot_now();
  const auto result = ensure_local_server(settings_, before + 300 * ns_per_ms, socket_path_);
  EXPECT_EQ(result.code, status::unreachable);
  EXPECT_TRUE(result.is_retryable);
  EXPECT_LT(boot_now() - before, 10 * ns_per_s);
}

TEST(local_settings_test, read_the_environment) {
  ::setenv("MORTISE_LOCAL_DIR", "/somewhere", 1);
  ::setenv("MORTISE_LOCAL_IDLE_S", "7", 1);
  auto settings = local_settings::from_environment();
  EXPECT_EQ(settings.folder, "/somewhere");
  EXPECT_EQ(settings.idle_s, 7);
  for (const char* wrong : {"", "0", "-1", "7s", "99999999999"}) {
    ::setenv("MORTISE_LOCAL_IDLE_S", wrong, 1);
    EXPECT_EQ(local_settings::from_environment().idle_s, 60) << wrong;
  }
  ::unsetenv("MORTISE_LOCAL_DIR");
  ::unsetenv("MORTISE_LOCAL_IDLE_S");

  // A runtime folder that is not the user's own is left alone.
  char own[] = "/tmp/mortise-runtime-XXXXXX";
  ASSERT_NE(::mkdtemp(own), nullptr);
  const char* named = std::getenv("XDG_RUNTIME_DIR");
  const std::string before = named != nullptr ? named : "";
  ::setenv("XDG_RUNTIME_DIR", own, 1);
  EXPECT_EQ(local_settings::from_environment().folder, std::string(own) + "/mortise");
  ::setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
  EXPECT_NE(local_settings::from_environment().folder, "/nonexistent/mortise");
  before.empty() ? ::unsetenv("XDG_RUNTIME_DIR") : ::setenv("XDG_RUNTIME_DIR", before.c_str(), 1);
  ::rmdir(own);
}

}  // namespace
}  // namespace mortise::local::local_folder_test
