// proxy URL MICROSECONDS: a port of loopback that leads to the server of the URL, with this delay
// each way. It prints the port, and runs until it is killed.
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "bench/delay_proxy.hpp"
#include "bench/harness.hpp"

namespace {

using mortise::bench::require;

int listen_on_port() {
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof own;
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  require(::bind(fd, reinterpret_cast<const sockaddr*>(&own), size) == 0 &&
              ::listen(fd, SOMAXCONN) == 0 &&
              ::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) == 0,
          "no port can be had");
  std::printf("%d\n", ntohs(own.sin_port));
  std::fflush(stdout);
  return fd;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    require(argc == 3, "proxy URL MICROSECONDS");
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    mortise::bench::relay_between(listen_on_port(), argv[1], std::atoll(argv[2]) * 1000);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "proxy: %s\n", problem.what());
    return 1;
  }
}
