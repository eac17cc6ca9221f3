#include "cli/commands/show.hpp"

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/arguments.hpp"
#include "cli/exit_code.hpp"
#include "cli/failure.hpp"
#include "cli/named_lock.hpp"
#include "cli/period.hpp"
#include "cli/text/listing.hpp"
#include "cli/text/text_table.hpp"

namespace mortise::cli {
namespace {

const char* const show_help = R"HELP(Shows the holders and the waiters of a lock, in order.

  mortise show nightly
  mortise show nightly --json

Usage: mortise show [OPTION...] NAME

      --url URL    servers of the locks (default: $MORTISE_URL)
      --json       print JSON
      --wait TIME  time limit for the clients to report how long they have waited (default: 1s)
  -h, --help       print this help

It shows the first 16 holders and the first 16 waiters. Exit codes: 0, even if the lock is free; 75
a server did not answer, and stderr names it; 64 and above as in mortise exec.
)HELP";

// How long each client has held the lock or waited for it.
struct ages {
  std::map<std::string, int64_t> held_ms;
  std::map<std::string, int64_t> waited_ms;
  nlohmann::json missing = nlohmann::json::array();  // servers
  int problem = exit_ok;                             // exit code when the ages are missing
};

ages ages_of(const listing& seen, const std::string& name) {
  ages found;
  found.missing = seen.missing();
  for (int64_t index = 0; index < seen.size(); ++index) {
    if (seen.text(index, "name") != name) continue;
    const auto client = seen.text(index, "client");
    if (seen.number(index, "holds") > 0) found.held_ms[client] = seen.number(index, "held_ms");
    if (seen.number(index, "waiters") > 0)
      found.waited_ms[client] = seen.number(index, "waited_ms");
  }
  return found;
}

// A lock is shown even without ages. A free lock has none, but a silent server may have a holder.
ages find_ages(const named_lock& seen, const std::string& name, mortise_client* client,
               int64_t wait_ms, mortise_error* error) try {
  return ages_of(listing(client, wait_ms, error), name);
} catch (const failure& problem) {
  const bool is_needed = mortise_info_entry_count(seen.info()) > 0;
  ages none;
  if (is_needed || problem.code() != exit_no_permission) {
    complain("show", problem.what());
    none.problem = problem.code();
  }
  return none;
}

// An owner is "m1:CLIENT:…".
std::string client_of(const std::string& owner) {
  const auto start = owner.find(':') + 1;
  return start == 0 ? "" : owner.substr(start, owner.find(':', start) - start);
}

nlohmann::json json_of(const named_lock& seen, const std::string& name, const ages& known) {
  const auto* const info = seen.info();
  nlohmann::json one = {{"name", name},
                        {"kind", seen.kind()},
                        {"is_held", mortise_info_is_held(info) == 1},
                        {"holders", mortise_info_holder_count(info)},
                        {"waiters", mortise_info_waiter_count(info)},
                        {"latest_token", mortise_info_latest_token(info)},
                        {"time_left_ms", mortise_info_time_left_ms(info)},
                        {"permits", mortise_info_permits(info)},
                        {"permits_in_use", mortise_info_permits_in_use(info)},
                        {"missing", known.missing},
                        {"entries", nlohmann::json::array()}};
  const auto holders = mortise_info_shown_holder_count(info);
  for (int64_t index = 0; index < mortise_info_entry_count(info); ++index) {
    const bool holds = index < holders;
    const auto& times = holds ? known.held_ms : known.waited_ms;
    const auto time = times.find(client_of(mortise_info_entry_owner(info, index)));
    nlohmann::json entry = {{"holds", holds},
                            {"is_exclusive", mortise_info_entry_is_exclusive(info, index) == 1},
                            {"is_retained", mortise_info_entry_is_retained(info, index) == 1},
                            {"permits", mortise_info_entry_permits(info, index)},
                            {"host", mortise_info_entry_host(info, index)},
                            {"pid", mortise_info_entry_pid(info, index)},
                            {"label", mortise_info_entry_label(info, index)},
                            {"value", mortise_info_entry_value(info, index)}};
    if (time != times.end()) entry[holds ? "held_ms" : "waited_ms"] = time->second;
    one["entries"].push_back(std::move(entry));
  }
  return one;
}

std::string what_of(const nlohmann::json& lock, const nlohmann::json& entry) {
  const bool is_semaphore = lock["kind"] == "semaphore";
  const bool holds = entry["holds"];
  if (entry["is_retained"]) return "retains";
  if (is_semaphore) {
    const auto permits = std::to_string(entry["permits"].get<int64_t>());
    return (holds ? "holds " : "waits for ") + permits;
  }
  if (lock["kind"] == "mutex") return holds ? "holds" : "waits";
  const bool writes = entry["is_exclusive"];
  if (holds) return writes ? "writes" : "reads";
  return writes ? "waits to write" : "waits to read";
}

std::string age_of(const nlohmann::json& entry) {
  for (const auto* const key : {"held_ms", "waited_ms"}) {
    if (entry.contains(key)) return rough_text_of(entry[key].get<int64_t>());
  }
  return "?";
}

void print(const nlohmann::json& lock) {
  const int64_t waiters = lock["waiters"];
  std::string state = "free";
  if (lock["is_held"]) {
    state = "held, " + rough_text_of(lock["time_left_ms"].get<int64_t>()) + " left";
  }
  if (lock["kind"] == "semaphore" && lock["is_held"]) {
    state += ", " + std::to_string(lock["permits_in_use"].get<int64_t>()) + " of " +
             std::to_string(lock["permits"].get<int64_t>()) + " permits in use";
  }
  const auto kind = lock["is_held"] ? lock["kind"].get<std::string>() + ", " : "";
  std::printf("%s: %s%s, %lld waiting\n",
              printable_of(lock["name"].get_ref<const std::string&>()).c_str(), kind.c_str(),
              state.c_str(), static_cast<long long>(waiters));
  text_table table({"WHAT", "FOR", "HOST", "PID", "LABEL", "VALUE"});
  for (const auto& entry : lock["entries"]) {
    table.add({what_of(lock, entry), age_of(entry),
               printable_of(entry["host"].get_ref<const std::string&>()),
               std::to_string(entry["pid"].get<int64_t>()),
               printable_of(entry["label"].get_ref<const std::string&>()),
               printable_of(entry["value"].get_ref<const std::string&>())});
  }
  if (!lock["entries"].empty()) table.print();
}

}  // namespace

int show_lock(int argc, const char* const* argv) {
  CLI::App app;
  std::string url;
  std::string name;
  std::string wait = "1s";
  bool is_json = false;
  app.add_option("NAME", name);
  app.add_option("--url", url);
  app.add_flag("--json", is_json);
  app.add_option("--wait", wait);
  if (!read_arguments(app, "show", show_help, argc, argv)) return exit_ok;
  if (app.count("NAME") == 0) throw failure(exit_usage, "NAME is missing; see mortise show --help");
  const auto wait_ms = listing_wait_ms_of(wait);
  const error_handle error(mortise_error_new());
  const auto client = connect_to_look(url, error.get());
  const named_lock seen(client.get(), name, error.get());
  const auto known = find_ages(seen, name, client.get(), wait_ms, error.get());
  const auto lock = json_of(seen, name, known);
  if (is_json) {
    // A name may be any bytes, but JSON texts are UTF-8.
    std::puts(lock.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  } else {
    print(lock);
  }
  const int code = exit_code_without(known.missing, "show");
  return code == exit_ok ? known.problem : code;
}

}  // namespace mortise::cli
