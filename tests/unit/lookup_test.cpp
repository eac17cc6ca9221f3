// A look-up that can start no thread. pthread_create is this program's own, so that it can refuse.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <utility>

#include "net/dial/lookup.hpp"
#include "net/threads/futex.hpp"

namespace {

std::atomic<bool> refuses_threads{false};

}  // namespace

// NOLINTNEXTLINE: the name and the types are the system's.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*body)(void*), void* argument) {
  using function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<function>(dlsym(RTLD_NEXT, "pthread_create"));
  return refuses_threads ? EAGAIN : real(thread, attributes, body, argument);
}

namespace mortise::testing::lookup_test {
namespace {

class stub_resolver final : public net::resolver {
 public:
  [[nodiscard]] std::string text() const override { return "a name"; }
  [[nodiscard]] bool is_immediate() const noexcept override { return false; }
  net::resolution resolve(time_ns /*deadline*/) override {
    net::address found;
    EXPECT_TRUE(net::address::from_path("/tmp/nowhere", found));
    return {{}, {found}};
  }
};

class waiting_listener final : public net::lookup_listener {
 public:
  void on_resolved(net::resolution found) noexcept override {
    last = std::move(found);
    ended.store(1);
    net::futex_wake_all(&ended);
  }
  bool wait() {
    const auto deadline = boot_now() + 20 * ns_per_s;
    while (ended.load() == 0 && boot_now() < deadline) net::futex_wait(ended, 0, deadline);
    return ended.exchange(0) == 1;
  }
  net::resolution last;
  std::atomic<std::uint32_t> ended{0};
};

// A look-up is used on the reactor's thread.
class starter final : public net::task {
 public:
  explicit starter(net::lookup& what) : what_(what) {}
  void run() noexcept override { what_.start(time_never); }

 private:
  net::lookup& what_;
};

TEST(lookup_test, without_a_thread_the_last_known_address_is_taken) {
  net::reactor loop;
  ASSERT_TRUE(loop.start().ok());
  waiting_listener listener;
  net::lookup lookup(loop, std::make_shared<stub_resolver>(), listener);
  starter start(lookup);

  refuses_threads = true;
  loop.post(start);
  ASSERT_TRUE(listener.wait());
  EXPECT_EQ(listener.last.result.code, status::limit) << "nothing is known yet";
  EXPECT_NE(listener.last.result.message.find("ulimit -u"), std::string::npos);

  refuses_threads = false;
  loop.post(start);
  ASSERT_TRUE(listener.wait());
  ASSERT_EQ(listener.last.addresses.size(), 1U);

  refuses_threads = true;
  loop.post(start);
  ASSERT_TRUE(listener.wait());
  refuses_threads = false;
  EXPECT_TRUE(listener.last.result.ok()) << listener.last.result.message;
  ASSERT_EQ(listener.last.addresses.size(), 1U);
  EXPECT_EQ(listener.last.addresses[0].text(), "unix:///tmp/nowhere");
  loop.stop();
}

}  // namespace
}  // namespace mortise::testing::lookup_test
