#include "evidence/deployment/slice_deployment.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace mortise::evidence {

namespace {

using testing::test_server;

void sleep_ms(std::size_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// The number after `field` in the reply to INFO.
std::int64_t number_in(test_server& server, const std::string& section, const std::string& field) {
  const auto text = server.command({"INFO", section});
  const auto place = text.find(field);
  return place == text.npos ? 0 : std::stoll(text.substr(place + field.size()));
}

std::int64_t microseconds_of(test_server& server) {
  std::istringstream reply(server.command({"TIME"}));
  std::int64_t seconds = 0;
  std::int64_t microseconds = 0;
  reply >> seconds >> microseconds;
  return seconds * 1'000'000 + microseconds;
}

bool is_positive(const std::string& reply) {
  return !reply.empty() && reply.front() >= '1' && reply.front() <= '9';
}

bool end_connections(test_server& server, const char* type) {
  return is_positive(server.command({"CLIENT", "KILL", "TYPE", type, "SKIPME", "yes"}));
}

}  // namespace

void slice_deployment::rest_ms(std::size_t least, std::size_t most) {
  sleep_ms(least + random_below(most - least + 1));
}

bool slice_deployment::pause_clients(test_server& server) {
  const auto what = random_below(2) == 0 ? "WRITE" : "ALL";
  const auto length_ms = 100 + random_below(600);
  if (server.command({"CLIENT", "PAUSE", std::to_string(length_ms), what}) != "OK") return false;
  sleep_ms(length_ms);
  return true;
}

// Injected if the server refused a command meanwhile.
bool slice_deployment::fill_memory(test_server& server) {
  const auto refusals = [&] { return number_in(server, "errorstats", "errorstat_OOM:count="); };
  const auto before = refusals();
  server.command({"CONFIG", "SET", "maxmemory", "1"});
  rest_ms(100, 700);
  server.command({"CONFIG", "SET", "maxmemory", "0"});
  return refusals() > before;
}

bool slice_deployment::stop(test_server& server) {
  server.pause();
  rest_ms(50, 800);
  server.resume();
  return true;
}

// Each message to a client arrives a second time, some up to half a second later.
bool slice_deployment::repeat_messages(test_server& server) {
  const auto listener = server.connect();
  listener->command({"PSUBSCRIBE", "mortise:inbox:*"});
  std::set<std::string> repeated;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  while (std::chrono::steady_clock::now() < end && repeated.size() < 100) {
    // So that there is a message to read, also if no client sends one.
    server.command({"PUBLISH", "mortise:inbox:nobody", std::to_string(repeated.size())});
    const auto message = listener->read_reply();  // pmessage, pattern, channel, text
    const auto channel = message.find('\n', message.find('\n') + 1);
    const auto text = message.find('\n', channel + 1);
    if (text == message.npos || message.find("inbox:nobody") != message.npos) continue;
    if (!repeated.insert(message).second) continue;
    if (random_below(8) == 0) sleep_ms(20);
    server.command(
        {"PUBLISH", message.substr(channel + 1, text - channel - 1), message.substr(text + 1)});
  }
  return !repeated.empty();
}

// Injected if the server's clock shows it.
bool slice_deployment::move_clock(test_server& server, std::int64_t by_ms) {
  auto known = std::find_if(clocks_.begin(), clocks_.end(),
                            [&](const auto& one) { return one.first == &server; });
  if (known == clocks_.end()) known = clocks_.insert(clocks_.end(), {&server, 0});
  const auto begin = std::chrono::steady_clock::now();
  const auto before_us = microseconds_of(server);
  if (by_ms < 0) {
    known->second += by_ms * 1'000;
    server.set_clock_us(known->second);
  } else {
    const std::int64_t step_us = random_below(2) == 0 ? 100 : -100;
    for (int step = 0; step < 100; ++step) {
      known->second += step_us;
      server.set_clock_us(known->second);
      sleep_ms(20);
    }
  }
  const auto expected_us = std::chrono::duration_cast<std::chrono::microseconds>(
                               std::chrono::steady_clock::now() - begin)
                               .count();
  return std::abs(microseconds_of(server) - before_us - expected_us) > 2'000;
}

void slice_deployment::add_common(const server_choice& server) {
  const auto add_one = [&](const char* name, bool (*inject)(test_server&)) {
    add(fault::part::server, name, [server, inject] { return inject(server()); });
  };
  add_one("connections end", [](test_server& one) { return end_connections(one, "normal"); });
  add_one("listeners end", [](test_server& one) { return end_connections(one, "pubsub"); });
  add_one("scripts are forgotten", [](test_server& one) {
    return one.command({"SCRIPT", "FLUSH"}) == "OK";
  });
  add_one("server sleeps", [](test_server& one) {
    return one.command({"DEBUG", "SLEEP", "0.5"}) == "OK";
  });
  const auto add_own = [&](const char* name, bool (slice_deployment::*inject)(test_server&)) {
    add(fault::part::server, name, [this, server, inject] { return (this->*inject)(server()); });
  };
  add_own("clients are paused", &slice_deployment::pause_clients);
  add_own("memory is full", &slice_deployment::fill_memory);
  add_own("server stops", &slice_deployment::stop);
  add_own("messages arrive twice", &slice_deployment::repeat_messages);
}

void slice_deployment::add_clocks(const server_choice& server) {
  add(fault::part::server, "clock steps back", [this, server] {
    return move_clock(server(), -10 - static_cast<std::int64_t>(random_below(1'000)));
  });
  add(fault::part::server, "clock drifts", [this, server] { return move_clock(server(), 0); });
}

std::vector<std::string> slice_deployment::leftovers() {
  constexpr auto patience = std::chrono::seconds(20);
  const auto end = std::chrono::steady_clock::now() + patience;
  std::vector<std::string> found;
  do {
    found.clear();
    for (auto* const server : keepers()) {
      for (const auto& lock : locks_) {
        if (server->command({"EXISTS", key_of(lock)}) == "1") found.push_back(lock + " is taken");
      }
    }
    if (!found.empty()) sleep_ms(50);
  } while (!found.empty() && std::chrono::steady_clock::now() < end);
  for (auto* const server : keepers()) {
    std::istringstream keys(server->command({"KEYS", "*mortise:*"}));
    for (std::string key; std::getline(keys, key);) {
      if (server->command({"PTTL", key}) == "-1") found.push_back(key + " never expires");
    }
  }
  return found;
}

std::unique_ptr<slice_deployment> open_deployment(const slice_settings& chosen) {
  for (const auto open : {open_servers, open_quorum, open_sentinels, open_cluster}) {
    if (auto made = open(chosen)) return made;
  }
  throw std::invalid_argument("there is no deployment " + chosen.kind);
}

}  // namespace mortise::evidence
