// A router whose servers reply what and when the test decides.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "deployment/cluster/routing/router.hpp"

namespace mortise::testing {

// Records the router's requests as words, such as "attach 100 at 0".
class routers : public ::testing::Test, private cluster::router::io {
 protected:
  static constexpr time_ns patience_ns = ns_per_s;
  static constexpr int slot = 100;     // of the first master
  static constexpr int another = 101;  // too
  static constexpr int far = 16000;    // of the second master

  routers() : ways(*this, patience_ns) {
    ways.begin({{"a", 1}}, now);
    expect("add a:1 as 0, connect 0");
  }
  // Two masters, the first with two replicas.
  void know() {
    ways.on_up(0, now);
    expect("ask 0");
    report_topology(0, "a");
    expect("add b:2 as 1, add c:3 as 2, add d:4 as 3");
  }
  void know_and_use() {
    know();
    ways.use(slot, now);
    expect("attach 100 at 0");
    end_attachment(cluster::attachment::end::attached);
    expect("100 is here at 0");
  }
  void report_topology(int server, const std::string& first_master) {
    const cluster::endpoint a{"a", 1};
    const cluster::endpoint b{"b", 2};
    const cluster::endpoint c{"c", 3};
    const cluster::endpoint d{"d", 4};
    const auto first = first_master == "a" ? a : b;
    ways.on_topology(server, {{0, 8191, first, {b, c}}, {8192, 16383, d, {}}}, now);
  }
  void report_topology_of(const std::vector<cluster::slot_range>& ranges) {
    ways.on_topology(0, ranges, now);
  }
  void end_attachment(cluster::attachment::end result, const cluster::endpoint& to = {}) {
    end_attachment(last_, result, to);
  }
  // Of all that are open; returns how many there were.
  int end_attachments(cluster::attachment::end result) {
    auto open = std::exchange(open_, {});
    for (const auto& which : open) end_attachment(which, result, {});
    return static_cast<int>(open.size());
  }
  // As time passes; returns how many slots have tried to attach.
  int refuse_attachments(time_ns until, cluster::attachment::end result) {
    int count = end_attachments(result);
    while (ways.next_timer() < until) {
      now = std::max(now, ways.next_timer());
      ways.on_timer(now);
      if (take().find("ask") != std::string::npos) report_topology(0, "a");
      count += end_attachments(result);
    }
    now = until;
    return count;
  }
  struct attempt {
    int slot = 0;
    int server = 0;
    std::uint64_t number = 0;
  };
  void end_attachment(const attempt& which, cluster::attachment::end result,
                      const cluster::endpoint& to) {
    cluster::attachment came{result, to, {}};
    if (result == cluster::attachment::end::refused || result == cluster::attachment::end::later)
      came.why = outcome::of(status::refused, "no");
    ways.on_attachment(which.slot, which.server, which.number, came, now);
  }
  void fail(int server) { ways.on_down(server, outcome::of(status::unreachable, "gone"), now); }
  std::string take() {
    std::string all;
    for (const auto& line : log_) all += line + "\n";
    log_.clear();
    return all;
  }
  // Until the router requests something.
  void wait() {
    for (int step = 0; log_.empty() && step < 100; ++step) {
      ASSERT_NE(time_never, ways.next_timer());
      now = std::max(now, ways.next_timer());
      ways.on_timer(now);
    }
  }
  void expect(const std::string& expected) {
    std::string all;
    for (const auto& line : log_) all += (all.empty() ? "" : ", ") + line;
    EXPECT_EQ(expected, all);
    log_.clear();
  }
  // -1 for an unknown address.
  int number_at(const cluster::endpoint& where) const {
    const auto found = std::find(addresses.begin(), addresses.end(), where);
    return found == addresses.end() ? -1 : static_cast<int>(found - addresses.begin());
  }
  // Since this was asked last.
  int owner_changes(int of) { return std::exchange(owner_changes_[of], 0); }

  time_ns now = ns_per_s;
  std::vector<attempt> open_;                // attempts to attach that have not ended
  std::vector<cluster::endpoint> addresses;  // of the servers, by number
  bool has_no_memory = false;                // for the next server
  cluster::router ways;                      // last: its calls need the others

 private:
  void add_server(int server, const cluster::endpoint& where) override {
    if (std::exchange(has_no_memory, false)) throw std::bad_alloc();
    addresses.push_back(where);
    log_.push_back("add " + where.text() + " as " + std::to_string(server));
  }
  void connect(int server) noexcept override { note("connect", server); }
  void disconnect(int server) noexcept override { note("disconnect", server); }
  void leave(int server, const char*) noexcept override { note("leave", server); }
  void change_server(int server, const cluster::endpoint& where) override {
    addresses.at(static_cast<std::size_t>(server)) = where;
    log_.push_back(std::to_string(server) + " is " + where.text());
  }
  bool attach(int of, int server, std::uint64_t number) noexcept override {
    last_ = {of, server, number};
    open_.push_back(last_);
    log_.push_back("attach " + std::to_string(of) + " at " + std::to_string(server));
    return true;
  }
  bool ask_topology(int server) noexcept override {
    note("ask", server);
    return true;
  }
  void on_attached(int of, int server) noexcept override {
    log_.push_back(std::to_string(of) + " is here at " + std::to_string(server));
  }
  void on_detached(int of) noexcept override { log_.push_back(std::to_string(of) + " is away"); }
  void on_repeat(int of) override { log_.push_back(std::to_string(of) + " again"); }
  void on_owner_changed(int of) noexcept override { ++owner_changes_[of]; }
  std::int64_t random_below(std::int64_t) noexcept override { return 0; }
  void note(const char* what, int server) {
    log_.push_back(std::string(what) + " " + std::to_string(server));
  }

  attempt last_;
  std::vector<std::string> log_;
  std::map<int, int> owner_changes_;
};

}  // namespace mortise::testing
