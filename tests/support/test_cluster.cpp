#include "support/test_cluster.hpp"

#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "deployment/cluster/routing/slot.hpp"

namespace mortise::testing {

namespace {

constexpr int slots = 16384;
constexpr auto node_timeout = std::chrono::seconds(1);
constexpr auto patience = std::chrono::seconds(40);

template <class Condition>
void await(const char* what, Condition&& condition) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error(what);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void expect_ok(const std::string& reply) {
  if (reply != "OK") throw std::runtime_error("a server of the cluster said " + reply);
}

}  // namespace

test_cluster::test_cluster(const cluster_options& options)
    : has_tls_(options.has_tls),
      network_(options.network != nullptr ? *options.network : loopback_) {
  const auto count = options.masters * (1 + options.replicas_each);
  for (std::size_t i = 0; i < count; ++i) {
    start(i, options);
    ids_.push_back(at(i).command({"CLUSTER", "MYID"}));
    expect_ok(ask(i, {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)}));
  }
  is_down_.resize(count);
  is_paused_.resize(count);
  for (std::size_t i = 0; i < options.masters; ++i) {
    const auto first = slots * i / options.masters;
    const auto last = slots * (i + 1) / options.masters - 1;
    expect_ok(ask(i, {"CLUSTER", "ADDSLOTSRANGE", std::to_string(first), std::to_string(last)}));
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t other = 0; other < count; ++other) {
      if (other == i) continue;
      expect_ok(ask(i, {"CLUSTER", "MEET", network_.address_of(other),
                        std::to_string(at(other).port()), bus_port_of(other)}));
    }
  }
  for (std::size_t i = options.masters; i < count; ++i) {
    const auto& master = ids_[i % options.masters];
    await("a replica does not know its master", [&] {
      return ask(i, {"CLUSTER", "REPLICATE", master}) == "OK";
    });
  }
  await_whole();
}

void test_cluster::start(std::size_t number, const cluster_options& options) {
  const auto address = network_.address_of(number);
  std::vector<std::string> arguments = {"--port",
                                        "free",
                                        "--cluster-port",
                                        "free",
                                        "--cluster-enabled",
                                        "yes",
                                        "--cluster-announce-ip",
                                        address,
                                        "--cluster-node-timeout",
                                        "1000",
                                        "--cluster-allow-replica-migration",
                                        "no",
                                        "--repl-diskless-sync-delay",
                                        "0",
                                        "--cluster-replica-validity-factor",
                                        "0"};
  // The first port is the one that clients come to.
  if (has_tls_) arguments.front() = "tls";
  if (has_tls_) arguments.erase(arguments.begin() + 1);
  const auto there = network_.arguments_of(number);
  arguments.insert(arguments.end(), there.begin(), there.end());
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  servers_.push_back(std::make_unique<test_server>(server_options{.arguments = arguments}));
  network_.open(number, std::to_string(at(number).port()));
  network_.open(number, bus_port_of(number));
}

std::string test_cluster::bus_port_of(std::size_t number) {
  const auto reply = ask(number, {"CONFIG", "GET", "cluster-port"});
  return reply.substr(reply.rfind('\n') + 1);
}

std::string test_cluster::ask(std::size_t number, const std::vector<std::string>& command) {
  return at(number).command(command);
}

std::string test_cluster::folder_of(std::size_t number) const {
  const auto socket = servers_[number]->socket_path();
  return socket.substr(0, socket.rfind('/'));
}

std::string test_cluster::address_of(std::size_t number) const {
  return network_.address_of(number) + ":" + std::to_string(servers_[number]->port());
}

std::string test_cluster::url() const {
  std::string text = has_tls_ ? "rediss+cluster://" : "redis+cluster://";
  for (std::size_t i = 0; i < servers_.size(); ++i) text += (i == 0 ? "" : ",") + address_of(i);
  if (!has_tls_) return text;
  const auto signers = folder_of(0) + "/signers.pem";
  std::ofstream all(signers);
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    all << std::ifstream(folder_of(i) + "/ca.pem").rdbuf();
  }
  return text + "?tls_ca_file=" + signers;
}

std::size_t test_cluster::number_at(const std::string& port) const {
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    if (std::to_string(servers_[i]->port()) == port) return i;
  }
  throw std::runtime_error("no server has the port " + port);
}

// A command for the key shows it, also where the slot has another owner.
std::size_t test_cluster::owner_of(const std::string& key) {
  std::size_t owner = 0;
  await("nobody has the slot", [&] {
    for (std::size_t i = 0; i < size(); ++i) {
      if (!runs(i)) continue;
      const auto reply = ask(i, {"EXISTS", key});
      if (reply == "0" || reply == "1") {
        owner = i;
        return true;
      }
      if (reply.starts_with("-MOVED ")) {
        owner = number_at(reply.substr(reply.rfind(':') + 1));
        if (runs(owner)) return true;
      }
    }
    return false;
  });
  return owner;
}

std::string test_cluster::command_at(const std::string& key,
                                     const std::vector<std::string>& command) {
  std::string reply;
  await("the slot's owner does not answer", [&] {
    reply = ask(owner_of(key), command);
    return !reply.starts_with("-MOVED") && !reply.starts_with("-CLUSTERDOWN");
  });
  return reply;
}

std::string test_cluster::id_of(std::size_t number) { return ids_[number]; }

std::size_t test_cluster::replica_of(std::size_t master) {
  for (std::size_t i = 0; i < size(); ++i) {
    if (!runs(i)) continue;
    for (const auto& line : lines_of(ask(i, {"CLUSTER", "NODES"}))) {
      const auto words = words_of(line);
      if (words.size() < 4 || !contains(words[2], "slave") || words[3] != id_of(master)) continue;
      for (std::size_t other = 0; other < size(); ++other) {
        if (words[0] == id_of(other) && runs(other)) return other;
      }
    }
  }
  throw std::runtime_error("the server has no replica");
}

std::size_t test_cluster::other_master(std::size_t than) {
  for (std::size_t i = 0; i < size(); ++i) {
    if (i != than && runs(i) && ask(i, {"ROLE"}).starts_with("master")) return i;
  }
  throw std::runtime_error("there is no other master");
}

std::size_t test_cluster::fail_over(std::size_t master, const std::vector<std::string>& words) {
  const auto replica = replica_of(master);
  std::vector<std::string> command = {"CLUSTER", "FAILOVER"};
  command.insert(command.end(), words.begin(), words.end());
  // Masters do not vote again so soon for a replica of a server that has just been followed.
  std::this_thread::sleep_until(last_fault_ + 2 * node_timeout + node_timeout / 4);
  last_fault_ = std::chrono::steady_clock::now();
  expect_ok(ask(replica, command));
  // On a slow machine the replica aborts its failover after five seconds. Repeats the command then.
  auto again_at = last_fault_ + std::chrono::seconds(6);
  await("no failover", [&] {
    if (ask(replica, {"ROLE"}).starts_with("master")) return true;
    const auto now = std::chrono::steady_clock::now();
    if (now < again_at) return false;
    ask(replica, command);
    again_at = now + std::chrono::seconds(6);
    return false;
  });
  return replica;
}

void test_cluster::follow(std::size_t replica, std::size_t master) {
  expect_ok(ask(replica, {"CLUSTER", "REPLICATE", id_of(master)}));
  await_whole();
}

void test_cluster::begin_move(int slot, std::size_t from, std::size_t to) {
  const auto number = std::to_string(slot);
  expect_ok(ask(to, {"CLUSTER", "SETSLOT", number, "IMPORTING", id_of(from)}));
  expect_ok(ask(from, {"CLUSTER", "SETSLOT", number, "MIGRATING", id_of(to)}));
}

bool test_cluster::move_key(int slot, std::size_t from, std::size_t to) {
  const auto key = ask(from, {"CLUSTER", "GETKEYSINSLOT", std::to_string(slot), "1"});
  if (key.empty()) return false;
  ask(from, {"MIGRATE", network_.address_of(to), std::to_string(at(to).port()),
             lines_of(key).front(), "0", "5000"});
  return true;
}

void test_cluster::end_move(int slot, std::size_t from, std::size_t to) {
  const auto number = std::to_string(slot);
  expect_ok(ask(to, {"CLUSTER", "SETSLOT", number, "NODE", id_of(to)}));
  expect_ok(ask(from, {"CLUSTER", "SETSLOT", number, "NODE", id_of(to)}));
  // As redis-cli does. The others would learn of it a little later.
  for (std::size_t i = 0; i < size(); ++i) {
    const bool is_other = i != from && i != to && runs(i);
    if (!is_other || !ask(i, {"ROLE"}).starts_with("master")) continue;
    expect_ok(ask(i, {"CLUSTER", "SETSLOT", number, "NODE", id_of(to)}));
  }
  // If the slot moved again before all have learned of it, the servers would disagree for good. The
  // next owner would draw an epoch that is not above this one, and an old claim would undo its own.
  const auto key = cluster::tag_of(slot);
  const auto moved = ":" + std::to_string(at(to).port());
  await("servers disagree about a slot", [&] {
    const auto epoch = epoch_of(to, to);
    for (std::size_t i = 0; i < size(); ++i) {
      if (i == to || !runs(i)) continue;
      if (!ask(i, {"EXISTS", key}).ends_with(moved) || epoch_of(to, i) != epoch) return false;
    }
    return true;
  });
}

// The epoch of a server's claim to its slots, as another knows it.
std::string test_cluster::epoch_of(std::size_t number, std::size_t source) {
  for (const auto& line : lines_of(ask(source, {"CLUSTER", "NODES"}))) {
    const auto words = words_of(line);
    if (words.size() > 6 && words[0] == id_of(number)) return words[6];
  }
  return "";
}

bool test_cluster::has_migration() {
  return contains(ask(0, {"CLUSTER", "GETSLOTMIGRATIONS"}), "-ERR") == false;
}

void test_cluster::migrate_slots(int first, int last, std::size_t from, std::size_t to) {
  expect_ok(ask(from, {"CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", std::to_string(first),
                       std::to_string(last), "NODE", id_of(to)}));
  await("slots do not migrate", [&] {
    // The newest comes first.
    const auto jobs = ask(from, {"CLUSTER", "GETSLOTMIGRATIONS"});
    const auto newest = jobs.substr(0, jobs.find("\nname\n"));
    if (contains(newest, "\nfailed\n")) throw std::runtime_error("no migration: " + newest);
    return contains(newest, "\nsuccess\n");
  });
}

// The master of each replica and the slots of each master, from a server's reply to CLUSTER NODES.
std::set<std::string> test_cluster::view_in(const std::string& nodes) {
  std::set<std::string> view;
  for (const auto& line : lines_of(nodes)) {
    const auto words = words_of(line);
    auto text = words.at(0) + (contains(words.at(2), "master") ? " is a master" : words.at(3));
    for (std::size_t i = 8; i < words.size(); ++i) {
      if (!words[i].starts_with('[')) text += " " + words[i];  // which is on its way
    }
    view.insert(text);
  }
  return view;
}

void test_cluster::await_whole() {
  const auto known = "cluster_known_nodes:" + std::to_string(size());
  await("the cluster does not become whole", [&] {
    std::set<std::set<std::string>> views;
    for (std::size_t i = 0; i < size(); ++i) {
      if (!runs(i)) continue;
      const auto info = ask(i, {"CLUSTER", "INFO"});
      if (!contains(info, "cluster_state:ok") || !contains(info, known)) return false;
      if (!contains(info, "cluster_slots_ok:" + std::to_string(slots))) return false;
      const auto role = ask(i, {"ROLE"});
      if (role.starts_with("slave") && !contains(role, "\nconnected")) return false;
      const auto nodes = ask(i, {"CLUSTER", "NODES"});
      if (contains(nodes, ",fail") || contains(nodes, "handshake")) return false;
      views.insert(view_in(nodes));
    }
    return views.size() == 1;
  });
}

void test_cluster::heal() {
  for (std::size_t i = 0; i < size(); ++i) {
    if (is_paused_[i]) at(i).resume();
    if (is_down_[i] && !is_paused_[i]) at(i).start();
    is_down_[i] = is_paused_[i] = false;
  }
  await_whole();
}

void test_cluster::flush() {
  for (std::size_t i = 0; i < size(); ++i) ask(i, {"FLUSHALL"});  // replicas refuse it
}

void test_cluster::kill(std::size_t number) {
  last_fault_ = std::chrono::steady_clock::now();
  at(number).kill();
  is_down_[number] = true;
}

void test_cluster::pause(std::size_t number) {
  last_fault_ = std::chrono::steady_clock::now();
  at(number).pause();
  is_down_[number] = is_paused_[number] = true;
}

}  // namespace mortise::testing
