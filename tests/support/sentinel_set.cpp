#include "support/sentinel_set.hpp"

#include <algorithm>
#include <ctime>
#include <functional>
#include <stdexcept>

#include "base/time.hpp"

namespace mortise::testing {

namespace {

constexpr std::size_t set_size = 3;
constexpr std::size_t no_server = set_size;

void await(const std::function<bool()>& condition, const char* what) {
  const auto end = boot_now() + 60 * ns_per_s;
  while (!condition()) {
    if (boot_now() > end) throw std::runtime_error(what);
    const timespec pause{0, 5'000'000};
    nanosleep(&pause, nullptr);
  }
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text + "\n").find("\n" + line + "\n") != std::string::npos;
}

std::vector<std::string> with_port(std::vector<std::string> arguments) {
  if (std::find(arguments.begin(), arguments.end(), "tls") == arguments.end()) {
    arguments.insert(arguments.end(), {"--port", "free"});
  }
  return arguments;
}

void append(std::vector<std::string>& arguments, const std::vector<std::string>& further) {
  arguments.insert(arguments.end(), further.begin(), further.end());
}

}  // namespace

sentinel_set::sentinel_set(const options& chosen)
    : network_(chosen.network != nullptr ? *chosen.network : loopback_),
      is_counted_(set_size, true) {
  for (std::size_t i = 0; i < set_size; ++i) start(i, chosen);
  for (std::size_t i = 1; i < set_size; ++i) {
    servers_[i]->command({"REPLICAOF", network_.address_of(0), port_of(0)});
  }
  await_replicas();
  for (const auto& one : sentinels_) {
    one->command({"SENTINEL", "MONITOR", name, network_.address_of(0), port_of(0), "2"});
    // A Sentinel connects to a server at most once a second, and a promotion ends its connections.
    // With a shorter limit it takes the server that it has just promoted for down, and promotes the
    // next.
    one->command({"SENTINEL", "SET", name, "down-after-milliseconds", std::to_string(patience_ms),
                  "failover-timeout", "6000"});
    for (const auto& setting : chosen.settings) {
      std::vector<std::string> command{"SENTINEL", "SET", name};
      command.insert(command.end(), setting.begin(), setting.end());
      one->command(command);
    }
  }
  await(
      [&] {
        return std::all_of(sentinels_.begin(), sentinels_.end(), [](const auto& one) {
          const auto reply = one->command({"SENTINEL", "MASTER", name});
          return has_line(reply, "num-slaves\n2") && has_line(reply, "num-other-sentinels\n2");
        });
      },
      "the Sentinels do not find each other");
}

void sentinel_set::set_patience_ms(int ms) {
  for (const auto& one : sentinels_) {
    one->command({"SENTINEL", "SET", name, "down-after-milliseconds", std::to_string(ms)});
  }
}

void sentinel_set::start(std::size_t number, const options& chosen) {
  auto of_servers = with_port(chosen.of_servers);
  of_servers.insert(of_servers.end(), {"--repl-diskless-sync-delay", "0", "--repl-timeout", "5",
                                       "--replica-announce-ip", network_.address_of(number)});
  append(of_servers, network_.arguments_of(number));
  servers_.push_back(std::make_unique<test_server>(
      server_options{.arguments = of_servers, .login = chosen.server_login}));
  network_.open(number, port_of(number));
  auto of_sentinels = with_port(chosen.of_sentinels);
  of_sentinels.emplace_back("sentinel");
  const auto host = set_size + number;
  append(of_sentinels, network_.arguments_of(host));
  sentinels_.push_back(std::make_unique<test_server>(
      server_options{.arguments = of_sentinels, .login = chosen.sentinel_login}));
  auto& sentinel = *sentinels_.back();
  sentinel.command({"SENTINEL", "CONFIG", "SET", "announce-ip", network_.address_of(host)});
  network_.open(host, std::to_string(sentinel.port()));
}

std::string sentinel_set::port_of(std::size_t server) const {
  return std::to_string(servers_[server]->port());
}

std::string sentinel_set::url(const std::string& query, const std::string& scheme) const {
  std::string text = scheme + "://";
  for (std::size_t i = 0; i < set_size; ++i) {
    text.append(text.ends_with('/') ? "" : ",").append(network_.address_of(set_size + i));
    text.append(":").append(std::to_string(sentinels_[i]->port()));
  }
  return text.append("/").append(name).append(query.empty() ? "" : "?").append(query);
}

std::size_t sentinel_set::number_reported_by(std::size_t sentinel) {
  const auto reply = sentinels_[sentinel]->command({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", name});
  for (std::size_t i = 0; i < set_size; ++i) {
    if (reply == network_.address_of(i) + "\n" + port_of(i)) return i;
  }
  return no_server;
}

std::size_t sentinel_set::master_number() {
  auto agreed = no_server;
  await(
      [&] {
        std::vector<std::size_t> numbers;
        for (std::size_t i = 0; i < set_size; ++i) {
          if (is_counted_[i]) numbers.push_back(number_reported_by(i));
        }
        agreed = numbers.front();
        return agreed != no_server && std::count(numbers.begin(), numbers.end(), agreed) ==
                                          static_cast<std::ptrdiff_t>(numbers.size());
      },
      "the Sentinels do not agree");
  return agreed;
}

void sentinel_set::await_replicas() {
  await(
      [&] {
        const auto text = servers_[0]->command({"INFO", "replication"});
        return text.find("slave1:") != std::string::npos &&
               text.find("state=online", text.find("slave1:")) != std::string::npos &&
               text.find("state=online") < text.find("slave1:");
      },
      "the replicas do not follow");
}

bool sentinel_set::follows(std::size_t server, std::size_t master) {
  const auto address = network_.address_of(master);
  const auto reply = servers_[server]->command({"ROLE"});
  if (reply.starts_with("slave\n" + address + "\n" + port_of(master) + "\nconnected")) return true;
  if (reply.starts_with("master")) {
    servers_[server]->command({"REPLICAOF", address, port_of(master)});
  }
  return false;
}

bool sentinel_set::is_whole_in_time() {
  const auto end = boot_now() + 60 * ns_per_s;
  while (boot_now() < end) {
    const auto master = master_number();
    bool all_follow = true;
    for (std::size_t i = 0; i < set_size; ++i) all_follow &= i == master || follows(i, master);
    if (all_follow) return true;
    const timespec pause{0, 20'000'000};
    nanosleep(&pause, nullptr);
  }
  return false;
}

void sentinel_set::replicate() {
  const auto from = master_number();
  const auto mark = servers_[from]->command({"INCR", "replicated"});
  await(
      [&] {
        return std::all_of(servers_.begin(), servers_.end(), [&](const auto& one) {
          return one->command({"GET", "replicated"}) == mark;
        });
      },
      "the replicas do not follow");
}

void sentinel_set::fail_over(const std::string& client_name) {
  const auto before = master_number();
  const auto leader = static_cast<std::size_t>(
      std::find(is_counted_.begin(), is_counted_.end(), true) - is_counted_.begin());
  // A Sentinel refuses a failover shortly after the previous one, and aborts one on a slow machine.
  // Repeats the command in both cases.
  time_ns again_at = 0;
  await(
      [&] {
        const bool is_due = boot_now() >= again_at;
        if (is_due && sentinels_[leader]->command({"SENTINEL", "FAILOVER", name}) == "OK") {
          again_at = boot_now() + 10 * ns_per_s;
        }
        return again_at != 0 && number_reported_by(leader) != before;
      },
      "no failover begins");
  await_master_other_than(before);
  if (client_name.empty()) return;
  await(
      [&] {
        const auto clients = servers_[before]->command({"CLIENT", "LIST"});
        return clients.find(" name=" + client_name + " ") == std::string::npos;
      },
      "a client stays with the master before");
}

void sentinel_set::await_master_other_than(std::size_t before) {
  await(
      [&] {
        const auto now = master_number();
        return now != before && servers_[now]->command({"ROLE"}).starts_with("master");
      },
      "no other becomes the master");
}

}  // namespace mortise::testing
