// What every experiment needs: the clock, CPU time, medians, how long to measure, and where the
// servers are.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/server.hpp"

namespace mortise::bench {

constexpr std::int64_t ns_per_second = 1'000'000'000;
constexpr double ns_per_microsecond = 1000.0;

// Nanoseconds of CLOCK_MONOTONIC, the same in all processes of the host.
std::int64_t now_ns() noexcept;
void sleep_ns(std::int64_t duration_ns) noexcept;
// CPU time of this process, all threads, in microseconds.
double process_cpu_us() noexcept;
// Resident memory of a process.
std::int64_t resident_bytes(pid_t process);

// The value that this share of the values does not exceed; 0 when there are none.
double percentile(std::vector<double> values, double share);
double median(std::vector<double> values);

// Throws std::runtime_error with this message unless the condition holds.
void require(bool condition, const std::string& message);

// What the user asked for on the command line.
struct settings {
  bool is_quick = false;
  bool over_tcp = false;
  std::string url;  // of a server that is there already; empty: one is started per experiment

  // `full` in a full run, `quick` in a quick one.
  template <typename T>
  [[nodiscard]] T pick(T full, T quick) const {
    return is_quick ? quick : full;
  }
};

// The server of one experiment: fresh and without persistence, or the one that the user named.
class bench_server {
 public:
  explicit bench_server(const settings& chosen);
  [[nodiscard]] const std::string& url() const { return url_; }

 private:
  std::unique_ptr<testing::test_server> started_;
  std::string url_;
};

// A fresh server that speaks TLS, with throw-away certificates, on loopback.
class tls_bench_server {
 public:
  explicit tls_bench_server(const std::vector<std::string>& more = {});
  [[nodiscard]] std::string ca_file() const { return folder_ + "/ca.pem"; }
  [[nodiscard]] int port() const { return started_.port(); }
  // The URL of a client that trusts it.
  [[nodiscard]] std::string url() const;

  static constexpr const char* host = "127.0.0.1";

 private:
  testing::test_server started_;
  std::string folder_;
};

// A name for a lock that no earlier run has used.
std::string lock_name(const std::string& purpose, int number = 0);

// Files open at once: as many as the system lets this process have.
void allow_many_files();

}  // namespace mortise::bench
