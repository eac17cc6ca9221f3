#include "harness.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <stdexcept>

namespace mortise::bench {

std::int64_t now_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * ns_per_second + now.tv_nsec;
}

void sleep_ns(std::int64_t duration_ns) noexcept {
  timespec left{duration_ns / ns_per_second, duration_ns % ns_per_second};
  while (::clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
  }
}

double process_cpu_us() noexcept {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto as_us = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return as_us(usage.ru_utime) + as_us(usage.ru_stime);
}

std::int64_t resident_bytes(pid_t process) {
  const auto path = "/proc/" + std::to_string(process) + "/statm";
  std::FILE* file = std::fopen(path.c_str(), "r");
  require(file != nullptr, path + " cannot be read");
  long long total = 0;
  long long resident = 0;
  const int fields = std::fscanf(file, "%lld %lld", &total, &resident);
  std::fclose(file);
  require(fields == 2, path + " has an unknown form");
  return resident * ::sysconf(_SC_PAGESIZE);
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto index = static_cast<std::size_t>(share * static_cast<double>(values.size()));
  return values[std::min(index, values.size() - 1)];
}

double median(std::vector<double> values) { return percentile(std::move(values), 0.5); }

void require(bool condition, const std::string& message) {
  if (!condition) throw std::runtime_error(message);
}

bench_server::bench_server(const settings& chosen) : url_(chosen.url) {
  if (!url_.empty()) return;
  testing::server_options options;
  if (chosen.over_tcp) options.arguments = {"--port", "free"};
  started_ = std::make_unique<testing::test_server>(options);
  url_ = chosen.over_tcp ? started_->tcp_url() : started_->url();
}

namespace {

std::vector<std::string> with_tls(std::vector<std::string> more) {
  more.insert(more.begin(), "tls");
  return more;
}

}  // namespace

tls_bench_server::tls_bench_server(const std::vector<std::string>& more)
    : started_({.arguments = with_tls(more)}),
      folder_(std::filesystem::path(started_.socket_path()).parent_path()) {}

std::string tls_bench_server::url() const {
  return std::string("rediss://") + host + ":" + std::to_string(port()) +
         "?tls_ca_file=" + ca_file();
}

std::string lock_name(const std::string& purpose, int number) {
  static const auto start = now_ns() / 1000;
  return purpose + "-" + std::to_string(start % 10'000'000) + "-" + std::to_string(number);
}

void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace mortise::bench
