// The time from the start of a TLS connection to the first reply over it: the whole handshake
// against a blocking OpenSSL, and the gain by a ticket.
#include <poll.h>

#include "experiment.hpp"
#include "net/tls/tls_transport.hpp"
#include "tls_channel.hpp"

namespace mortise::bench {

namespace {

using net::io_result;
using net::io_state;

void wait_for(const net::transport& connection, const io_result& now) {
  require(now.state == io_state::want_read || now.state == io_state::want_write,
          std::string("the connection ended: ") + connection.describe(now.error));
  pollfd readable{connection.descriptor(),
                  static_cast<short>(now.state == io_state::want_read ? POLLIN : POLLOUT), 0};
  ::poll(&readable, 1, -1);
}

// As a client does it: with its first connection it has no ticket.
class tls_dialer {
 public:
  explicit tls_dialer(const tls_bench_server& server) {
    net::tls_terms terms;
    terms.name = tls_bench_server::host;
    terms.ca_file = server.ca_file();
    require(net::tls_context::make(std::move(terms), shared_).ok(), "TLS cannot be used");
    net::address::from_literal(tls_bench_server::host, server.port(), where_);
  }

  void connect_and_ask(bool is_resumed) {
    net::tls_transport connection(shared_);
    auto result = connection.start_connect(where_);
    while (result.state != io_state::done) {
      wait_for(connection, result);
      result = connection.finish_connect();
    }
    result = connection.send("PING\r\n");
    require(result.state == io_state::done, "the connection ended");
    char answer[64];
    while ((result = connection.receive(answer, sizeof answer)).state != io_state::done) {
      wait_for(connection, result);
    }
    require(connection.is_resumed() == is_resumed, "the ticket was not what it had to be");
  }

 private:
  std::shared_ptr<net::tls_context> shared_;
  net::address where_;
};

void connect_and_ask_plainly(const tls_bench_server& server) {
  tls_channel connection(trust_of(server.ca_file()), tls_bench_server::host, server.port());
  const char* words[] = {"PING"};
  const std::size_t lengths[] = {4};
  require(connection.command(1, words, lengths) != nullptr, "the connection ended");
}

template <typename Action>
double time_us(Action&& action) {
  const auto start = now_ns();
  action();
  return static_cast<double>(now_ns() - start) / ns_per_microsecond;
}

void run(const settings& chosen, table& results) {
  const tls_bench_server server;
  tls_dialer resuming(server);
  resuming.connect_and_ask(false);
  std::vector<double> full;
  std::vector<double> resumed;
  std::vector<double> plain;
  for (int i = 0; i < chosen.pick(1000, 200); ++i) {
    full.push_back(time_us([&] { tls_dialer(server).connect_and_ask(false); }));
    plain.push_back(time_us([&] { connect_and_ask_plainly(server); }));
    resumed.push_back(time_us([&] { resuming.connect_and_ask(true); }));
  }
  results.measured("handshake.full", median(full) / median(plain));
  results.measured("handshake.resumed", median(resumed) / median(full));
  results.raw("full %.0f us, with a ticket %.0f us; blocking OpenSSL %.0f us", median(full),
              median(resumed), median(plain));
}

}  // namespace

const experiment& handshake() {
  static const experiment instance{
      "handshake",
      {{"handshake.full", "TLS: first connection, until its first answer / blocking OpenSSL",
        aim::at_most, 1.10, "x"},
       {"handshake.resumed", "  the next connection, with a ticket / the first", aim::at_most, 0.50,
        "x"}},
      run};
  return instance;
}

}  // namespace mortise::bench
