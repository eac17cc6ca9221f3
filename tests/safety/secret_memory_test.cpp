// How often a password is in the memory of a program that uses the library, as a core dump would
// show it. The program itself has it only in disguise.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "support/child.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"
#include "support/tls_fixture.hpp"

namespace mortise::testing::secret_memory_test {
namespace {

constexpr char mask = '\x25';

// A secret, each byte of which is masked while it is not in use. It is so long that saved registers
// do not contain all of it side by side.
class disguised {
 public:
  static constexpr std::size_t size = 100;

  disguised() {
    std::random_device chance;
    for (char& c : masked_) c = static_cast<char>(static_cast<char>('a' + chance() % 26) ^ mask);
  }
  // What a file has from there on.
  disguised(const std::string& path, std::streamoff from) {
    std::ifstream file;
    file.rdbuf()->pubsetbuf(nullptr, 0);
    file.open(path);
    file.seekg(from);
    for (char& c : masked_) {
      c = static_cast<char>(static_cast<char>(file.get()) ^ mask);
    }
  }

  // Calls with the secret between two texts, and wipes them.
  template <class Call>
  auto call_with(std::string_view before, std::string_view behind, Call&& call) const {
    struct wiped {
      ~wiped() { ::explicit_bzero(text.data(), text.size()); }
      std::array<char, 1024> text{};
    } all;
    auto* at = std::copy(before.begin(), before.end(), all.text.data());
    for (const char c : masked_) *at++ = static_cast<char>(c ^ mask);
    at = std::copy(behind.begin(), behind.end(), at);
    return call(std::string_view(all.text.data(), static_cast<std::size_t>(at - all.text.data())));
  }

  [[nodiscard]] char first() const { return static_cast<char>(masked_[0] ^ mask); }
  [[nodiscard]] bool is_at(const char* text) const {
    for (const char c : masked_) {
      if (*text++ != static_cast<char>(c ^ mask)) return false;
    }
    return true;
  }

 private:
  std::array<char, size> masked_;
};

// ---- memory -----------------------------------------------------------------------------------

std::array<char, 1U << 20U> window;

// In the first bytes of the window. Without optimization the C library looks at them much faster.
int count_in(const disguised& secret, std::size_t size) {
  int count = 0;
  const char* const end = window.data() + size - disguised::size + 1;
  for (const char* at = window.data(); at < end; ++at) {
    at = static_cast<const char*>(
        std::memchr(at, secret.first(), static_cast<std::size_t>(end - at)));
    if (at == nullptr) break;
    if (secret.is_at(at)) ++count;
  }
  return count;
}

int count_between(const disguised& secret, int memory, std::size_t begin, std::size_t end) {
  int count = 0;
  for (auto from = begin; from + disguised::size <= end;) {
    const auto expected = std::min(window.size(), end - from);
    const auto got = ::pread(memory, window.data(), expected, static_cast<off_t>(from));
    if (got < static_cast<ssize_t>(disguised::size)) break;  // it was unmapped meanwhile
    count += count_in(secret, static_cast<std::size_t>(got));
    from += static_cast<std::size_t>(got) - disguised::size + 1;
  }
  return count;
}

// In all that may be written to: the heap, the stacks of all threads, the data.
int count_in_memory(const disguised& secret) {
  const int memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  EXPECT_GE(memory, 0);
  const auto own = reinterpret_cast<std::size_t>(window.data());
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string rights;
    words >> std::hex >> begin;
    words.ignore();
    words >> end >> rights;
    // The sanitizers' shadow is larger than this, and contains no byte of a program.
    if (!rights.starts_with("rw") || end - begin > (1U << 30U)) continue;
    if (own >= begin && own < end) {
      count += count_between(secret, memory, begin, own);
      begin = own + window.size();
    }
    count += count_between(secret, memory, begin, end);
  }
  ::close(memory);
  ::explicit_bzero(window.data(), window.size());
  return count;
}

// The flags of the pages that contain the secret, once.
std::string flags_of_pages(const disguised& secret) {
  const int memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  std::ifstream maps("/proc/self/smaps");
  bool is_found = false;
  for (std::string line; std::getline(maps, line);) {
    if (is_found && line.starts_with("VmFlags:")) {
      ::close(memory);
      return line + " ";
    }
    unsigned long begin = 0;
    unsigned long end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx rw", &begin, &end) != 2 || end - begin > 1U << 16U) {
      continue;
    }
    is_found = count_between(secret, memory, begin, end) > 0;
  }
  ::close(memory);
  return {};
}

// It may be on its way for a moment after the library is back.
void expect_places(const disguised& secret, int expected) {
  EXPECT_TRUE(eventually([&] { return count_in_memory(secret) == expected; }))
      << count_in_memory(secret) << " places instead of " << expected;
}

// ---- clients ----------------------------------------------------------------------------------

// The secret is used in plain text by a process of its own.
void in_other_process(const std::function<void()>& what) {
  child speaker([&](child_end& test) {
    what();
    test.send("done");
  });
  ASSERT_EQ(speaker.receive(), "done");
}

void let_in(test_server& server, const std::string& user, const disguised& password) {
  in_other_process([&] {
    password.call_with(">", "", [&](std::string_view word) {
      server.connect()->command(
          {"ACL", "SETUSER", user, "reset", "on", std::string(word), "~*", "&*", "+@all"});
    });
  });
}

client_handle open_as(const test_server& server, const disguised& password) {
  const auto behind = "@" + server.socket_path() + "?command_timeout=1s&lease=1h";
  return password.call_with("unix://locker:", behind, [](std::string_view url) {
    return client_handle(mortise_client_new(url.data(), url.size(), nullptr, nullptr));
  });
}

TEST(secret_memory, the_search_finds_what_is_there) {
  const disguised secret;
  EXPECT_EQ(count_in_memory(secret), 0);
  secret.call_with("before ", "behind", [&](std::string_view text) {
    EXPECT_EQ(count_in_memory(secret), 1);
    const std::string another(text);
    EXPECT_EQ(count_in_memory(secret), 2);
  });
}

TEST(secret_memory, a_password_of_the_url_is_kept_once_for_the_next_connect) {
  test_server server;
  const disguised password;
  let_in(server, "locker", password);
  auto client = open_as(server, password);
  ASSERT_TRUE(client);
  EXPECT_EQ(count_in_memory(password), 1);
  server.command({"CLIENT", "KILL", "USER", "locker"});
  ASSERT_TRUE(answers(client));
  expect_places(password, 1);
  client.reset();
  EXPECT_EQ(count_in_memory(password), 0);
}

TEST(secret_memory, neither_a_core_dump_nor_a_child_has_a_password_of_the_url) {
  test_server server;
  const disguised password;
  let_in(server, "locker", password);
  const auto client = open_as(server, password);
  ASSERT_TRUE(client);
  expect_places(password, 1);
  const auto flags = flags_of_pages(password);
  EXPECT_NE(flags.find(" dd "), std::string::npos) << flags;
  child forked([&](child_end& test) { test.send(std::to_string(count_in_memory(password))); });
  EXPECT_EQ(forked.receive(), "0");
  server.command({"CLIENT", "KILL", "USER", "locker"});
  EXPECT_TRUE(answers(client));
}

TEST(secret_memory, a_server_without_resp3_leaves_no_more) {
  test_server server({.arguments = {"--rename-command", "HELLO", ""}});
  const disguised password;
  let_in(server, "locker", password);
  const auto client = open_as(server, password);
  ASSERT_TRUE(client);
  expect_places(password, 1);
}

TEST(secret_memory, a_refused_password_is_nowhere) {
  const test_server server;
  const disguised password;
  EXPECT_FALSE(open_as(server, password));
  EXPECT_EQ(count_in_memory(password), 0);
}

TEST(secret_memory, a_url_that_is_refused_leaves_nothing) {
  const disguised password;
  for (const auto* behind :
       {"@host?lease=soon", "@host:99999", "@ho st", "@host?password_file=/x"}) {
    password.call_with("redis://locker:", behind, [](std::string_view url) {
      const auto error = new_error();
      EXPECT_FALSE(client_handle(mortise_client_new(url.data(), url.size(), nullptr, error.get())));
    });
  }
  EXPECT_EQ(count_in_memory(password), 0);
}

TEST(secret_memory, a_password_of_a_file_is_not_kept) {
  test_server server;
  const disguised password;
  const auto file = server.socket_path() + ".password";
  let_in(server, "locker", password);
  in_other_process([&] {
    password.call_with("", "\n", [&](std::string_view text) { std::ofstream(file) << text; });
    ::chmod(file.c_str(), S_IRUSR | S_IWUSR);
  });
  const auto client = open_client("unix://locker@" + server.socket_path() +
                                  "?command_timeout=1s&password_file=" + file);
  EXPECT_EQ(count_in_memory(password), 0);
  server.command({"CLIENT", "KILL", "USER", "locker"});
  ASSERT_TRUE(answers(client));
  expect_places(password, 0);
  // Nor while it is refused, and tried again and again.
  server.command({"ACL", "SETUSER", "locker", "resetpass", ">other"});
  server.command({"CLIENT", "KILL", "USER", "locker"});
  ASSERT_TRUE(
      eventually([&] { return mortise_client_ping(client.get(), nullptr) == MORTISE_REFUSED; }));
  expect_places(password, 0);
}

TEST(secret_memory, new_credentials_take_the_place_of_those_before) {
  test_server server;
  const disguised first;
  const disguised second;
  const disguised wrong;
  let_in(server, "locker", first);
  let_in(server, "heir", second);
  const auto client = open_as(server, first);
  ASSERT_TRUE(client);
  const auto give = [&](const disguised& password) {
    return password.call_with("", "", [&](std::string_view text) {
      return mortise_client_set_credentials(client.get(), "heir", 4, text.data(), text.size(),
                                            nullptr);
    });
  };
  EXPECT_EQ(give(wrong), MORTISE_REFUSED);
  EXPECT_EQ(give(second), MORTISE_OK);
  expect_places(wrong, 0);
  expect_places(first, 0);
  expect_places(second, 1);
}

TEST(secret_memory, tls_keeps_a_password_once_and_the_keys_text_nowhere) {
  tls_server server;
  const disguised password;
  const disguised key(server.file("client.key"), 60);
  let_in(server, "locker", password);
  const auto behind = "@" + server.trusting_url(server.showing("client")).substr(9);
  const auto client = password.call_with("rediss://locker:", behind, [](std::string_view url) {
    return client_handle(mortise_client_new(url.data(), url.size(), nullptr, nullptr));
  });
  ASSERT_TRUE(client);
  expect_places(password, 1);
  expect_places(key, 0);
}

}  // namespace
}  // namespace mortise::testing::secret_memory_test
