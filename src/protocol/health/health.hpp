// The result of a health check: whether locks are safe at a server, finding by finding.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "protocol/health/server_facts.hpp"

namespace mortise::protocol {

// Higher values are more severe. The numbers are those of the C ABI.
enum class finding_severity : std::int32_t {
  ok = 0,
  unknown = 1,  // the server does not report it
  warn = 2,     // locks are safe until a crash, a failover or a hanging script
  bad = 3,      // locks do not work, or two clients may hold without any fault
};
const char* severity_text(finding_severity severity) noexcept;

struct finding {
  const char* name = "";
  finding_severity severity = finding_severity::ok;
  std::string server;
  std::string value;             // the observed value, as printable ASCII
  const char* consequence = "";  // the possible damage; "" when ok
  const char* remedy = "";       // "" when ok
};

struct health {
  std::vector<finding> findings;

  // The first of the most severe findings; nullptr without findings.
  [[nodiscard]] const finding* worst() const noexcept;
  // ok unless a finding is bad. Then the refusal of this finding.
  [[nodiscard]] outcome refusal() const noexcept;
  // {"worst": …, "findings": [{"name": …, "severity": …, …}, …]}
  [[nodiscard]] std::string json() const;
};

// The client that runs the health check.
struct checking_client {
  std::int64_t lease_ms = 0;
  std::int64_t drift_ppm = 0;
  bool verifies_tls = true;             // the option tls_verify
  std::int64_t acks = 0;                // the option; -1: all
  bool is_fsynced = false;              // the option durability=fsync
  std::int64_t quarantine_ms = 0;       // of a server of a quorum; 0: none
  bool is_of_local = false;             // the client starts and ends the server
  std::optional<clock_sample> earlier;  // an earlier reading of the server's clock
};

// A severity and the observed value.
struct judgement {
  finding_severity severity;
  std::string value;
};

// One rule for each finding; the page docs/health_check.md has the same table.
struct finding_rule {
  const char* name;
  const char* looks_at;
  const char* warn_when;  // "" for never
  const char* bad_when;   // "" for never
  const char* consequence;
  const char* remedy;
  judgement (*judge)(const server_facts& facts, const checking_client& client);
};
std::span<const finding_rule> finding_rules() noexcept;

// Adds that a server cannot be checked while others can. A server is spare if the others are enough
// for all locks.
void judge_unreachable(const outcome& problem, const std::string& server, bool is_spare,
                       health& result);

// Adds the findings at this server.
void judge(const server_facts& facts, const checking_client& client, const std::string& server,
           health& result);

}  // namespace mortise::protocol
