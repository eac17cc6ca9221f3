// The rules of a health check. A server's reply is never trusted: numbers must be in range, and
// texts are shown as printable ASCII.
#include <algorithm>
#include <cstdlib>

#include "lock/lease.hpp"
#include "protocol/health/health.hpp"

namespace mortise::protocol {

namespace {

using optional_text = std::optional<std::string_view>;
using optional_number = std::optional<std::int64_t>;

constexpr std::int64_t us_per_s = 1'000'000;
constexpr std::int64_t least_token = 1'000'000'000'000'000;  // see scripts/lib/fence.lua
constexpr std::int64_t most_token = (std::int64_t{1} << 53U) - 1;
// The life of the fence counter plus the longest grace period (see scripts/lib/grace_period.lua).
constexpr std::int64_t fence_life_ms = 7'776'000'000 + 5'000;
// How far two clocks may differ, and how far one clock may move.
constexpr std::int64_t clock_tolerance_us = us_per_s;
constexpr std::int64_t most_lag_s = 10;
constexpr std::int64_t most_behind_bytes = 1 << 20U;
constexpr time_ns long_round_trip_ns = 100 * ns_per_ms;
constexpr std::int64_t short_lease_ms = 1000;
constexpr std::int64_t lease_trips = 20;
constexpr std::int64_t least_script_ms = 100;
constexpr std::int64_t most_script_ms = 60'000;

judgement hidden() { return {finding_severity::unknown, "hidden by the server"}; }

// A text of the server, for people.
std::string shown(std::string_view text) {
  constexpr std::size_t longest = 64;
  std::string clean(text.substr(0, longest));
  for (char& c : clean) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text.size() > longest ? clean + "..." : clean;
}

std::string in_ms(std::int64_t us) {
  const auto rest = std::to_string(1000 + std::abs(us % 1000)).substr(1);
  return (us < 0 ? "-" : "") + std::to_string(std::abs(us / 1000)) + "." + rest + " ms";
}

std::string listed(const std::vector<std::string>& items, const char* mark) {
  std::string text;
  for (const auto& item : items) {
    text.append(text.empty() ? "" : " ");
    const bool is_pattern = item.starts_with("~") || item.starts_with("&");
    text.append(is_pattern ? "" : mark).append(item);
  }
  return text;
}

optional_text first_of(optional_text one, optional_text other) { return one ? one : other; }
optional_number number_of(optional_text text) {
  return text ? whole_number(*text) : optional_number();
}

optional_number replica_count(const server_facts& facts) {
  const auto connected = facts.count("connected_slaves");
  return connected ? connected : facts.replica_count;
}

// Whether a grant counts only when all replicas have it. Then no replica without the grant can
// replace the master (hazards 8 and 10).
bool has_all_acknowledge(const checking_client& client, std::int64_t count) {
  return client.acks < 0 || client.acks >= count;
}

// Whether no lock was held when the server started. A server of a quorum gives no vote until the
// earlier leases are over (hazard 11). That of local: ends only when no lock is held.
bool starts_free(const checking_client& client) {
  return client.quarantine_ms > 0 || client.is_of_local;
}

const char* why_it_starts_free(const checking_client& client) {
  return client.is_of_local ? "; it ends when nothing is held" : "; a restart begins a quarantine";
}

std::string replicas(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " replica" : " replicas");
}

// ---- the server --------------------------------------------------------------------------------

// Every probed server is reachable. judge_unreachable() handles the others.
judgement judge_reachable(const server_facts&, const checking_client&) {
  return {finding_severity::ok, "connected"};
}

judgement judge_version(const server_facts& facts, const checking_client&) {
  if (const auto valkey = facts.info_field("valkey_version")) {
    return {finding_severity::ok, "Valkey " + shown(*valkey)};
  }
  const auto version = facts.info_field("redis_version");
  if (!version) return hidden();
  const auto major = number_of(version->substr(0, version->find('.')));
  const auto rest = version->substr(std::min(version->find('.'), version->size() - 1) + 1);
  const auto minor = number_of(rest.substr(0, rest.find('.')));
  if (!major || !minor) return hidden();
  const bool is_old = *major < 6 || (*major == 6 && *minor < 2);
  return {is_old ? finding_severity::bad : finding_severity::ok, "Redis " + shown(*version)};
}

judgement judge_role(const server_facts& facts, const checking_client&) {
  const auto role = first_of(facts.role, facts.info_field("role"));
  if (!role) return hidden();
  if (*role == "slave") return {finding_severity::bad, "replica"};
  return {*role == "master" ? finding_severity::ok : finding_severity::bad, shown(*role)};
}

judgement judge_writes(const server_facts& facts, const checking_client&) {
  if (!facts.write_error) return hidden();
  if (facts.write_error->empty()) return {finding_severity::ok, "accepted"};
  return {finding_severity::bad, "refused with " + shown(*facts.write_error)};
}

judgement judge_uptime(const server_facts& facts, const checking_client& client) {
  const auto uptime_s = facts.count("uptime_in_seconds");
  if (!uptime_s) return hidden();
  const auto value = std::to_string(*uptime_s) + " s";
  if (starts_free(client)) return {finding_severity::ok, value + why_it_starts_free(client)};
  const bool keeps_all = facts.count("aof_enabled") == 1 &&
                         (client.is_fsynced || facts.configured("appendfsync") == "always");
  const auto longest_s = client.lease_ms / 1000 * (1'000'000 + client.drift_ppm) / 1'000'000 + 1;
  return {!keeps_all && *uptime_s <= longest_s ? finding_severity::warn : finding_severity::ok,
          value};
}

// ---- its rights --------------------------------------------------------------------------------

judgement judge_eval(const server_facts& facts, const checking_client&) {
  if (!facts.has_eval) return hidden();
  return *facts.has_eval ? judgement{finding_severity::ok, "allowed"}
                         : judgement{finding_severity::bad, "refused"};
}

judgement judge_client_kill(const server_facts& facts, const checking_client&) {
  if (!facts.has_client_kill) return hidden();
  return *facts.has_client_kill ? judgement{finding_severity::ok, "allowed"}
                                : judgement{finding_severity::warn, "refused"};
}

judgement judge_commands(const server_facts& facts, const checking_client&) {
  const auto& found = facts.rights;
  if (!found.missing.empty()) {
    return {found.is_essential_missing ? finding_severity::bad : finding_severity::warn,
            "missing: " + listed(found.missing, "")};
  }
  return found.is_known ? judgement{finding_severity::ok, "none missing"} : hidden();
}

judgement judge_rights(const server_facts& facts, const checking_client&) {
  const auto& found = facts.rights;
  if (!found.refused.empty()) {
    return {found.is_essential_refused ? finding_severity::bad : finding_severity::warn,
            "missing: " + listed(found.refused, "+")};
  }
  return found.is_known ? judgement{finding_severity::ok, "none missing"} : hidden();
}

// ---- its storage -------------------------------------------------------------------------------

judgement judge_maxmemory_policy(const server_facts& facts, const checking_client&) {
  const auto policy =
      first_of(facts.info_field("maxmemory_policy"), facts.configured("maxmemory-policy"));
  const auto limit =
      number_of(first_of(facts.info_field("maxmemory"), facts.configured("maxmemory")));
  if (policy == "noeviction") return {finding_severity::ok, "noeviction"};
  if (limit == 0) {
    return {finding_severity::ok,
            (policy ? shown(*policy) + ", " : std::string()) + "without a limit"};
  }
  if (!policy || !limit) return hidden();
  return {finding_severity::bad, shown(*policy) + " at " + std::to_string(*limit) + " bytes"};
}

judgement judge_evictions(const server_facts& facts, const checking_client&) {
  const auto evicted = facts.count("evicted_keys");
  if (!evicted) return hidden();
  return {*evicted == 0 ? finding_severity::ok : finding_severity::warn,
          std::to_string(*evicted) + " keys"};
}

judgement judge_shared_database(const server_facts& facts, const checking_client&) {
  if (!facts.keys) return hidden();
  const auto of_all = " of " + std::to_string(facts.keys->seen) + " checked keys";
  return {facts.keys->foreign == 0 ? finding_severity::ok : finding_severity::warn,
          std::to_string(facts.keys->foreign) + of_all + " are not Mortise's"};
}

judgement judge_persistence(const server_facts& facts, const checking_client& client) {
  const auto enabled = facts.info_field("aof_enabled");
  const auto configured = facts.configured("appendonly");
  if (!enabled && !configured) return hidden();
  if (enabled != "1" && configured != "yes") {
    const auto save = facts.configured("save");
    const auto value = "appendonly no, save " + (save ? "\"" + shown(*save) + "\"" : "hidden");
    if (starts_free(client)) return {finding_severity::ok, value + why_it_starts_free(client)};
    return {finding_severity::warn, value};
  }
  const auto fsync = facts.configured("appendfsync");
  const std::string value = "appendonly yes, appendfsync " + (fsync ? shown(*fsync) : "hidden");
  if (facts.info_field("aof_last_write_status").value_or("ok") != "ok") {
    return {finding_severity::warn, value + ", the last write failed"};
  }
  if (client.is_fsynced) return {finding_severity::ok, value + ", durability=fsync"};
  if (starts_free(client)) return {finding_severity::ok, value + why_it_starts_free(client)};
  if (!fsync) return {finding_severity::unknown, value};
  return {*fsync == "always" ? finding_severity::ok : finding_severity::warn, value};
}

// ---- its replicas ------------------------------------------------------------------------------

judgement judge_replicas(const server_facts& facts, const checking_client& client) {
  const auto count = replica_count(facts);
  if (!count) return hidden();
  const bool is_safe = *count == 0 || has_all_acknowledge(client, *count);
  return {is_safe ? finding_severity::ok : finding_severity::warn, replicas(*count)};
}

// A field such as "lag" of a line "ip=…,port=…,state=online,offset=14,lag=0".
std::string_view part_of(std::string_view line, std::string_view name) {
  while (!line.empty()) {
    const auto end = std::min(line.find(','), line.size());
    const auto part = line.substr(0, end);
    if (part.starts_with(name) && part.substr(name.size()).starts_with('=')) {
      return part.substr(name.size() + 1);
    }
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return {};
}

judgement judge_replica_lag(const server_facts& facts, const checking_client&) {
  const auto count = replica_count(facts);
  if (!count) return hidden();
  if (*count == 0) return {finding_severity::ok, "no replicas"};
  const auto offset = facts.count("master_repl_offset");
  constexpr std::int64_t most_shown = 64;
  std::int64_t lag_s = 0;
  std::int64_t behind = 0;
  for (std::int64_t i = 0; i < std::min(*count, most_shown); ++i) {
    const auto line = facts.info_field("slave" + std::to_string(i));
    if (!line) return hidden();
    const auto its_lag_s = whole_number(part_of(*line, "lag"));
    const auto its_offset = whole_number(part_of(*line, "offset"));
    if (part_of(*line, "state") != "online")
      return {finding_severity::warn, "a replica is not online"};
    if (!its_lag_s || !its_offset || !offset || *its_offset < 0 || *offset < 0) return hidden();
    lag_s = std::max(lag_s, *its_lag_s);
    behind = std::max(behind, *offset - *its_offset);
  }
  const bool is_far = lag_s > most_lag_s || behind > most_behind_bytes;
  return {
      is_far ? finding_severity::warn : finding_severity::ok,
      std::to_string(behind) + " bytes behind, last report " + std::to_string(lag_s) + " s ago"};
}

judgement judge_min_replicas(const server_facts& facts, const checking_client& client) {
  const auto count = replica_count(facts);
  if (!count) return hidden();
  if (*count == 0) return {finding_severity::ok, "no replicas"};
  if (has_all_acknowledge(client, *count)) return {finding_severity::ok, "acks waits for all"};
  auto least = number_of(facts.configured("min-replicas-to-write"));
  // INFO has this field only when the parameter is set.
  if (!least && facts.info_field("min_slaves_good_slaves")) least = 1;
  if (!least) return hidden();
  return {*least == 0 ? finding_severity::warn : finding_severity::ok,
          "min-replicas-to-write " + std::to_string(*least)};
}

// ---- clocks, tokens and time -------------------------------------------------------------------

// The fence counter, if its value is a token.
optional_number fence_of(const server_facts& facts) {
  const auto token = number_of(facts.fence);
  const bool is_token = token && *token >= least_token && *token <= most_token;
  return is_token ? token : optional_number();
}

judgement judge_clock_step(const server_facts& facts, const checking_client& client) {
  if (!facts.clock) return hidden();
  const auto passed_us =
      client.earlier ? (facts.clock->boot_ns - client.earlier->boot_ns) / ns_per_us : 0;
  const auto moved_us =
      client.earlier ? facts.clock->server_us - client.earlier->server_us - passed_us : 0;
  const auto in_time = " in " + std::to_string(passed_us / us_per_s) + " s";
  // A late reply makes the time less exact.
  const auto error_us = facts.clock->error_us + (client.earlier ? client.earlier->error_us : 0);
  const auto tolerance_us = clock_tolerance_us + error_us;
  // Grants count the counter up by one, the server's clock by a million per second. The counter was
  // read after the clock. A server of a quorum lifts the counter to the end of its quarantine,
  // other servers after it (hazard 30).
  const auto fence = fence_of(facts);
  const auto passed_since_us = (facts.heard_ns - facts.clock->boot_ns) / ns_per_us;
  const auto lifted_us = client.quarantine_ms > 0 ? client.quarantine_ms * 1000 + us_per_s : 0;
  const auto ahead_us = fence ? *fence - facts.clock->server_us : 0;
  // The clock was faster than the drift that leases allow.
  const auto allowed_us = passed_us / us_per_s * client.drift_ppm + tolerance_us;
  if (std::abs(moved_us) > allowed_us)
    return {finding_severity::bad, "moved " + in_ms(moved_us) + in_time};
  if (std::abs(moved_us) > tolerance_us) {
    return {finding_severity::warn, "moved " + in_ms(moved_us) + in_time};
  }
  if (ahead_us > tolerance_us + passed_since_us + lifted_us) {
    return {finding_severity::warn,
            "the fencing tokens are " + in_ms(ahead_us) + " ahead of the clock"};
  }
  return {finding_severity::ok, "none" + in_time};
}

judgement judge_clock_offset(const server_facts& facts, const checking_client&) {
  if (!facts.clock) return hidden();
  const auto tolerance_us = clock_tolerance_us + facts.clock->error_us;
  return {std::abs(facts.clock_offset_us) > tolerance_us ? finding_severity::warn
                                                         : finding_severity::ok,
          in_ms(facts.clock_offset_us)};
}

judgement judge_fence(const server_facts& facts, const checking_client& client) {
  if (facts.is_fence_in_other_slot) return {finding_severity::ok, "in a slot that has moved"};
  if (!facts.fence_type) return hidden();
  const bool is_lifted = facts.fence_lifted_ns != 0;
  if (*facts.fence_type == "none") {
    // On a cluster's server a client has counters only in the slots of its locks.
    return is_lifted ? judgement{finding_severity::warn, "deleted since this client connected"}
                     : judgement{finding_severity::ok, "not used by this client"};
  }
  if (*facts.fence_type != "string") {
    return {finding_severity::bad, "the key is a " + shown(*facts.fence_type)};
  }
  if (!facts.fence || !facts.fence_ttl_ms || !facts.clock) return hidden();
  const auto fence = fence_of(facts);
  if (!fence || *fence == most_token) {
    return {finding_severity::bad, "the counter is " + shown(*facts.fence)};
  }
  // Each connect lifts the counter to the clock.
  const auto lifted_us = (facts.clock->boot_ns - facts.fence_lifted_ns) / ns_per_us;
  const auto least = facts.clock->server_us - lifted_us - lifted_us / us_per_s * client.drift_ppm -
                     clock_tolerance_us - facts.clock->error_us;
  if (is_lifted && *fence < least) {
    return {finding_severity::bad, "the counter was set back by " + in_ms(least - *fence)};
  }
  if (*facts.fence_ttl_ms < 0) return {finding_severity::warn, "the counter was set without a TTL"};
  if (*facts.fence_ttl_ms > fence_life_ms + clock_tolerance_us / 1000) {
    return {finding_severity::warn,
            "the counter was set with a TTL of " + std::to_string(*facts.fence_ttl_ms) + " ms"};
  }
  return {finding_severity::ok, "as this client left it"};
}

judgement judge_script_time_limit(const server_facts& facts, const checking_client&) {
  const auto limit_ms = number_of(facts.configured("lua-time-limit"));
  if (!limit_ms) return hidden();
  const bool is_usual = *limit_ms >= least_script_ms && *limit_ms <= most_script_ms;
  return {is_usual ? finding_severity::ok : finding_severity::warn,
          std::to_string(*limit_ms) + " ms"};
}

judgement judge_round_trip(const server_facts& facts, const checking_client&) {
  return {facts.round_trip_ns > long_round_trip_ns ? finding_severity::warn : finding_severity::ok,
          in_ms(facts.round_trip_ns / ns_per_us)};
}

// Renewals are at most 11/30 of the lease apart (hazard 18).
judgement judge_lease(const server_facts& facts, const checking_client& client) {
  const auto pause_ms = client.lease_ms - client.lease_ms * 11 / 30;
  const bool is_short = client.lease_ms < short_lease_ms ||
                        client.lease_ms / lease_trips * ns_per_ms < facts.round_trip_ns;
  return {is_short ? finding_severity::warn : finding_severity::ok,
          std::to_string(client.lease_ms) + " ms; a crash costs up to " +
              std::to_string(lock::server_ttl_ms(client.lease_ms, client.drift_ppm)) +
              " ms, and a pause of " + std::to_string(pause_ms) + " ms costs no hold"};
}

judgement judge_tls_verify(const server_facts&, const checking_client& client) {
  return client.verifies_tls ? judgement{finding_severity::ok, "on"}
                             : judgement{finding_severity::bad, "off"};
}

// ---- the table ---------------------------------------------------------------------------------

// `./dev generate` writes the page's table from it.
constexpr finding_rule all_rules[] = {
    {"version", "`INFO`", "", "before Redis 6.2", "commands that locks need are missing",
     "upgrade to Redis 6.2 or Valkey 7.2", judge_version},
    {"role", "`ROLE`, `INFO`", "", "not a master", "no lock can be acquired",
     "give the master's address", judge_role},
    {"writes", "whether writes may be queued", "",
     "refused: out of memory, no disk, too few replicas",
     "no lock can be acquired; existing holds are kept",
     "fix the cause that the server's error names: maxmemory for OOM, the disk for MISCONF, the "
     "replicas for NOREPLICAS",
     judge_writes},
    {"eval", "`EVAL` of a script that does nothing", "", "refused", "no lock can be acquired",
     "allow EVAL, or use another server", judge_eval},
    {"commands", "whether each may be queued", "an optional command is missing",
     "a required command is missing", "some kinds of lock, or queries, fail",
     "restore what rename-command or the service removed", judge_commands},
    {"rights", "whether each may be queued", "an optional right is missing",
     "a required right is missing", "some kinds of lock, or queries, fail, also during a hold",
     "give the user all rights of the rule on the page about the server", judge_rights},
    {"client_kill", "`CLIENT KILL` of a client that does not exist", "refused", "",
     "requests that the network delays on a broken connection are executed late: a lock can stay "
     "taken for a lease, and a renewal can undo an upgrade",
     "allow CLIENT KILL", judge_client_kill},
    {"maxmemory_policy", "`INFO`, `CONFIG GET`", "", "not `noeviction`, and there is a limit",
     "a held lock is evicted, and two clients hold it",
     "set maxmemory-policy noeviction, or give the locks their own server", judge_maxmemory_policy},
    {"evictions", "`INFO`", "any since its start", "",
     "keys were evicted; if a lock was among them, two clients held it",
     "fix maxmemory_policy, then run CONFIG RESETSTAT", judge_evictions},
    {"shared_database", "up to about 100 keys, by `SCAN`", "some are not Mortise's", "",
     "a FLUSHDB, full memory or slow commands of other programs affect the locks",
     "give the locks their own server, or at least their own database", judge_shared_database},
    {"persistence", "`INFO`, `CONFIG GET`",
     "not `appendonly yes` with `appendfsync always`, nor `durability=fsync`", "",
     "after a crash of the server the newest locks are lost, and two clients may hold one lock",
     "set appendonly yes and appendfsync always, or let the protected resource check fencing "
     "tokens",
     judge_persistence},
    {"uptime", "`INFO`", "up for at most the client's lease, and a restart loses locks", "",
     "a holder from before the restart may believe that it still holds the lock",
     "wait for a lease before you trust a lock; see persistence", judge_uptime},
    {"replicas", "`INFO`, `ROLE`", "more than `acks` waits for", "",
     "a failover to a replica loses the newest locks, and two clients may hold one lock",
     "open the client with acks=all, use a server that does not fail over, or let the protected "
     "resource check fencing tokens",
     judge_replicas},
    {"replica_lag", "`INFO`", "one is not online, or 10 s or 1 MiB behind", "",
     "a failover now would lose more locks", "fix the replica or the network to it",
     judge_replica_lag},
    {"min_replicas", "`CONFIG GET`, `INFO`", "0, and `acks` waits for fewer than all", "",
     "a master that is cut off from its replicas still grants locks after the failover",
     "set min-replicas-to-write 1", judge_min_replicas},
    {"clock_step", "`TIME` since the client's first health check, and the newest token",
     "the server's clock moved by more than 1 s, or went back earlier",
     "it also moved by more than `drift` allows",
     "a clock that jumps forward ends leases early, and two clients hold; a clock that jumps back "
     "keeps locks taken",
     "slew the server's clock, never set it; check its NTP", judge_clock_step},
    {"clock_offset", "`TIME` against this host's clock", "more than 1 s apart", "",
     "one of the two clocks is wrong and will be set; tokens may fall if their counter is also "
     "lost",
     "synchronize both hosts by NTP", judge_clock_offset},
    {"fence", "the key `mortise:fence`, in a cluster in a slot of the client's locks",
     "it was deleted, or has a TTL that Mortise does not set",
     "it is not a token below 2^53 - 1, or was set back",
     "another program writes the counter of fencing tokens, so tokens may fall, or end",
     "deny other programs the keys that begin with mortise:; delete a counter beyond 2^53 when no "
     "client holds a lock; a new connection fixes any other",
     judge_fence},
    {"script_time_limit", "`CONFIG GET lua-time-limit`", "below 100 ms, above 60 s or off", "",
     "below, calls fail with BUSY during a slightly slow script; above, a script that hangs blocks "
     "all calls without an error",
     "set lua-time-limit 5000", judge_script_time_limit},
    {"round_trip", "the shorter of two", "more than 100 ms", "",
     "each acquire takes this long, and longer when others wait",
     "use a nearer server, or find out why it is slow", judge_round_trip},
    {"lease", "the client's options", "below 1 s, or below 20 round trips", "",
     "a slow reply or a short pause of the program costs the hold",
     "set lease to twice the longest pause that must not cost a hold", judge_lease},
    {"tls_verify", "the client's option", "", "off",
     "anyone between client and server can impersonate the server",
     "set tls_verify=on, and tls_ca_file if a private CA signed the server's certificate",
     judge_tls_verify},
    {"reachable", "the connection", "a server of a quorum is unreachable",
     "a server of a cluster or of `shard:` is unreachable",
     "the server gives no votes, so fewer other servers may fail",
     "fix the problem that the value names", judge_reachable},
};

}  // namespace

std::span<const finding_rule> finding_rules() noexcept { return all_rules; }

}  // namespace mortise::protocol
