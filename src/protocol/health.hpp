// What is found when a server is checked: whether locks are safe there, finding by finding.
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
enum class finding_severity : std::int32_t {
  ok = 0,
  unknown = 1,  // the server does not tell
  warn = 2,     // locks are right until something fails: a crash, a failover, a script that hangs
  bad = 3,      // locks do not work, or two may hold without any fault
};
const char* severity_text(finding_severity severity) noexcept;

struct finding {
  const char* name = "";
  finding_severity severity = finding_severity::ok;
  std::string server;            // which
  std::string value;             // what was seen, as printable ASCII
  const char* consequence = "";  // what could happen; "" where it is ok
  const char* remedy = "";       // the same
};

struct health {
  std::vector<finding> findings;

  // The first of the worst findings; nullptr without any.
  [[nodiscard]] const finding* worst() const noexcept;
  // ok unless a finding is bad; then that one's refusal.
  [[nodiscard]] outcome refusal() const noexcept;
  // {"worst": …, "findings": [{"name": …, "severity": …, …}, …]}
  [[nodiscard]] std::string json() const;
};

// What the client is, which asks.
struct checking_client {
  std::int64_t lease_ms = 0;
  std::int64_t drift_ppm = 0;
  bool verifies_tls = true;             // the option tls_verify
  std::int64_t acks = 0;                // the option; -1: all
  bool is_fsynced = false;              // the option durability=fsync
  std::int64_t quarantine_ms = 0;       // of a server of a quorum; 0: none
  bool is_of_local = false;             // the server is started, and ended, by its clients
  std::optional<clock_sample> earlier;  // what it knows of the server's clock from before
};

// A severity, and what was seen.
struct judgement {
  finding_severity severity;
  std::string value;
};

// One rule for each finding; the page docs/health_check.md has the same table.
struct finding_rule {
  const char* name;
  const char* looks_at;
  const char* warn_when;  // "" for never
  const char* bad_when;   // the same
  const char* consequence;
  const char* remedy;
  judgement (*judge)(const server_facts& facts, const checking_client& client);
};
std::span<const finding_rule> finding_rules() noexcept;

// Adds that a server cannot be checked, where others can. It is spare if they are enough for all
// locks.
void judge_away(const outcome& problem, const std::string& server, bool is_spare, health& into);

// Adds what is found at this server.
void judge(const server_facts& facts, const checking_client& client, const std::string& server,
           health& into);

}  // namespace mortise::protocol
