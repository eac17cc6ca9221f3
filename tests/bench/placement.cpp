#include "placement.hpp"

#include <unistd.h>

#include <filesystem>
#include <string>

#include "harness.hpp"

namespace mortise::bench {

namespace {

cpu_set_t cores_of(pid_t thread) {
  cpu_set_t cores;
  require(::sched_getaffinity(thread, sizeof cores, &cores) == 0, "no such thread");
  return cores;
}

// The first of these, or the last.
cpu_set_t one_of(const cpu_set_t& cores, bool is_last) {
  cpu_set_t one;
  CPU_ZERO(&one);
  for (std::size_t i = 0; i < CPU_SETSIZE; ++i) {
    if (!CPU_ISSET(i, &cores)) continue;
    CPU_ZERO(&one);
    CPU_SET(i, &one);
    if (!is_last) break;
  }
  return one;
}

std::vector<pid_t> threads_of(pid_t process) {
  std::vector<pid_t> threads;
  const auto folder = "/proc/" + std::to_string(process) + "/task";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    threads.push_back(std::stoi(entry.path().filename()));
  }
  return threads;
}

}  // namespace

pid_t process_of(reference& server) {
  return static_cast<pid_t>(info_number(server.info("server"), "process_id"));
}

pinned::pinned(placement where, pid_t server, const std::vector<pid_t>& clients) {
  const auto all = cores_of(0);
  const auto put = [&](pid_t process, bool is_last) {
    const auto core = one_of(all, is_last);
    for (const auto thread : threads_of(process)) {
      before_.emplace_back(thread, cores_of(thread));
      require(::sched_setaffinity(thread, sizeof core, &core) == 0, "a thread cannot be pinned");
    }
  };
  put(server, false);
  for (const auto client : clients) put(client, where == placement::two_cores);
}

pinned::~pinned() {
  // Of a thread that has ended there is nothing to be undone.
  for (const auto& [thread, cores] : before_) ::sched_setaffinity(thread, sizeof cores, &cores);
}

load::load() {
  const auto all = cores_of(0);
  for (int i = 0; i < CPU_COUNT(&all); ++i) {
    children_.emplace_back([this, i] {
      constexpr std::int64_t percent_ns = 100'000;  // of 10 ms
      for (;;) {
        const std::uint32_t percent = *percent_.get();
        if (percent == 0 || (percent < 100 && i > 0)) {
          wait_on(*percent_.get(), percent);
          continue;
        }
        for (const auto end = now_ns() + percent_ns * percent; now_ns() < end;) continue;
        if (percent < 100) ::usleep(100 * (100 - percent));
      }
    });
  }
}

void load::set(std::uint32_t percent) {
  *percent_.get() = percent;
  wake_all(*percent_.get());
}

}  // namespace mortise::bench
