// What is found when a server is examined: whether locks are safe there, finding by finding.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "protocol/server_facts.hpp"

namespace mortise::protocol {

// The higher, the worse. The numbers are those of the C ABI.
enum class finding_verdict : std::int32_t {
  ok = 0,
  unknown = 1,  // the server does not tell
  warn = 2,     // locks are right until something fails: a crash, a failover, a script that hangs
  bad = 3,      // locks do not work, or two may hold without any fault
};
const char* verdict_text(finding_verdict verdict) noexcept;

struct finding {
  const char* name = "";
  finding_verdict verdict = finding_verdict::ok;
  std::string server;            // which
  std::string value;             // what was seen, as printable ASCII
  const char* consequence = "";  // what could happen; "" where it is ok
  const char* mend = "";         // the same
};

struct examination {
  std::vector<finding> findings;

  // The first of the worst findings; nullptr without any.
  [[nodiscard]] const finding* worst() const noexcept;
  // ok unless a finding is bad; then that one's refusal.
  [[nodiscard]] outcome refusal() const noexcept;
  // {"worst": …, "findings": [{"name": …, "verdict": …, …}, …]}
  [[nodiscard]] std::string json() const;
};

// What the client is, which asks.
struct examining_client {
  std::int64_t lease_ms = 0;
  std::int64_t drift_ppm = 0;
  bool verifies_tls = true;             // the option tls_verify
  std::int64_t acks = 0;                // the option; -1: all
  bool is_fsynced = false;              // the option durability=fsync
  std::int64_t quarantine_ms = 0;       // of a server of a quorum; 0: none
  bool is_of_local = false;             // the server is started, and ended, by its clients
  std::optional<clock_sample> earlier;  // what it knows of the server's clock from before
};

// A verdict, and what was seen.
struct judgement {
  finding_verdict verdict;
  std::string value;
};

// One rule for each finding; the page docs/examination.md has the same table.
struct finding_rule {
  const char* name;
  const char* looks_at;
  const char* warn_when;  // "" for never
  const char* bad_when;   // the same
  const char* consequence;
  const char* mend;
  judgement (*judge)(const server_facts& facts, const examining_client& client);
};
std::span<const finding_rule> finding_rules() noexcept;

// Adds that a server cannot be examined, where others can. It is spare if they are enough for all
// locks.
void judge_away(const outcome& problem, const std::string& server, bool is_spare,
                examination& into);

// Adds what is found at this server.
void judge(const server_facts& facts, const examining_client& client, const std::string& server,
           examination& into);

}  // namespace mortise::protocol
