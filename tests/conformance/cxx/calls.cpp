/** The calls that wait for their end. */
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "call.hpp"

namespace {

/** How many of the holders that are shown retain what they have. */
std::int64_t retained_in(const mortise::info &info) {
  std::int64_t count = 0;
  for (const auto &one : info.entries()) count += one.is_retained ? 1 : 0;
  return count;
}

std::int64_t number_of(const mortise::info &info, const std::string &what) {
  if (what == "is_held") return info.is_held();
  if (what == "is_mine") return info.is_mine();
  if (what == "holder_count") return info.holder_count();
  if (what == "permits") return info.permits();
  if (what == "permits_in_use") return info.permits_in_use();
  if (what == "retained") return retained_in(info);
  return info.waiter_count();
}

void query_into(mortise::named_handle &of, call &made) {
  const auto info = of.query(std::nothrow);
  made.came_to(info);
  if (!info) return;
  const std::string what = made.text_of("of");
  made.value = number_of(*info, what);
  const auto entries = info->entries();
  if (what == "label" && !entries.empty()) made.text = entries.front().label;
  if (what != "value") return;
  if (!entries.empty()) made.text = entries.front().value;
  made.value = static_cast<std::int64_t>(made.text.size());
}

/** Ends the hold of the owner that is given, or of the first that the server knows of. */
void force_release(mortise::named_handle &of, call &made) {
  std::string owner = made.text_of("owner");
  if (owner.empty() && !made.has("owner")) {
    const auto info = of.query(std::nothrow);
    if (info && !info->entries().empty()) owner = info->entries().front().owner;
  }
  made.came_to(of.force_release(owner, std::nothrow));
}

/** Of a handle or of a hold: the text is the id. */
template <class Holder>
void export_from(Holder &of, call &made) {
  const auto id = of.export_id(made.lease(), std::nothrow);
  made.came_to(id);
  if (id) made.text = *id;
}

/** What all handles but clients have; whether it was that. */
bool call_common(mortise::handle &of, const std::string &method, call &made) {
  if (method == "extend") {
    made.came_to(of.extend(made.lease(), std::nothrow));
  } else if (method == "progress") {
    made.came_to(of.progress(std::nothrow));
  } else if (method == "export") {
    export_from(of, made);
  } else if (method == "cancel") {
    made.came_to(of.cancel());
  } else if (method == "interrupt") {
    made.came_to(of.interrupt(made.number("is_on", 1) != 0));
  } else if (method == "set_task") {
    made.came_to(of.set_task(made.number("task", 0), std::nothrow));
  } else if (method == "valid_ms") {
    made.value = of.valid().count();
  } else if (method == "deadline_ns") {
    made.value = of.deadline().time_since_epoch().count();
  } else {
    return false;
  }
  return true;
}

/** What those of one name have. */
bool call_named(mortise::named_handle &of, const std::string &method, call &made) {
  if (method == "name") {
    made.text = of.name();
  } else if (method == "token") {
    made.value = of.token();
  } else if (method == "query") {
    query_into(of, made);
  } else if (method == "set_value") {
    made.came_to(of.set_value(made.text_of("value"), std::nothrow));
  } else if (method == "force_release") {
    force_release(of, made);
  } else if (call_common(of, method, made)) {
    if (method == "extend" || method == "progress") made.token = of.token();
  } else {
    return false;
  }
  return true;
}

/** What a mutex and a multi have in common. */
template <class Kind>
void call_whole(Kind &of, const std::string &method, call &made) {
  if (method == "try") {
    made.came_to(of.try_acquire(std::nothrow));
  } else if (method == "acquire") {
    made.came_to(of.acquire(made.wait(), std::nothrow));
  } else if (method == "unlock") {
    made.came_to(of.unlock(std::nothrow));
  } else if (method == "is_held") {
    made.value = of.is_held();
  } else {
    no_such("method", method);
  }
}

void call_on(mortise::lock &of, const std::string &method, call &made) {
  if (method == "adopt") return made.came_to(of.adopt_id(made.text_of("id"), std::nothrow));
  if (!call_named(of, method, made)) call_whole(of, method, made);
}

void call_on(mortise::election &of, const std::string &method, call &made) {
  if (call_named(of, method, made)) return;
  if (method == "campaign") {
    made.came_to(of.campaign(made.wait(), std::nothrow));
  } else if (method == "resign") {
    made.came_to(of.resign(std::nothrow));
  } else if (method == "is_leader") {
    made.value = of.is_leader();
  } else {
    no_such("method", method);
  }
}

void call_on(mortise::multi &of, const std::string &method, call &made) {
  if (method == "member_count") {
    made.value = of.member_count();
  } else if (!call_common(of, method, made)) {
    call_whole(of, method, made);
  }
}

void call_on(mortise::semaphore &of, const std::string &method, call &made) {
  if (method == "adopt") return made.came_to(of.adopt_id(made.text_of("id"), std::nothrow));
  if (call_named(of, method, made)) return;
  if (method == "try") {
    made.came_to(of.try_acquire(made.weight(), std::nothrow));
  } else if (method == "acquire") {
    made.came_to(of.acquire(made.wait(), made.weight(), std::nothrow));
  } else if (method == "release") {
    made.came_to(of.release(std::nothrow));
  } else if (method == "resize") {
    made.came_to(of.resize(made.number("permits", 1), std::nothrow));
  } else if (method == "is_held") {
    made.value = of.is_held();
  } else {
    no_such("method", method);
  }
}

/** A change of what the handle holds, which only a hold has: one is made of it, and let go. */
void change(mortise::hold held, const std::string &method, call &made) {
  make_call(held, method, made);
  made.token = held.token();
  held.detach();
}

void call_on(mortise::rw &of, const std::string &method, call &made) {
  if (method == "adopt") return made.came_to(of.adopt_id(made.text_of("id"), std::nothrow));
  if (call_named(of, method, made)) return;
  if (method == "read_try") {
    made.came_to(of.try_read(std::nothrow));
  } else if (method == "read_acquire") {
    made.came_to(of.read(made.wait(), std::nothrow));
  } else if (method == "read_unlock") {
    made.came_to(of.unlock_shared(std::nothrow));
  } else if (method == "write_try") {
    made.came_to(of.try_write(std::nothrow));
  } else if (method == "write_acquire") {
    made.came_to(of.write(made.wait(), std::nothrow));
  } else if (method == "write_unlock") {
    made.came_to(of.unlock(std::nothrow));
  } else if (method == "upgrade") {
    change(of.adopt_read(), method, made);
  } else if (method == "downgrade") {
    change(of.adopt_write(), method, made);
  } else if (method == "is_reading") {
    made.value = of.is_reading();
  } else if (method == "is_writing") {
    made.value = of.is_writing();
  } else {
    no_such("method", method);
  }
}

// A field of an entry, as a number or as a text.
std::pair<std::int64_t, std::string_view> field_of(const mortise::listing_entry &one,
                                                   const std::string &key) {
  if (key == "name") return {0, one.name};
  if (key == "kind") return {0, one.kind};
  if (key == "mode") return {0, one.mode};
  if (key == "label") return {0, one.label};
  if (key == "value") return {0, one.value};
  if (key == "client") return {0, one.client};
  if (key == "host") return {0, one.host};
  if (key == "pid") return {one.pid, ""};
  if (key == "holds") return {one.holds, ""};
  if (key == "token") return {one.token, ""};
  if (key == "held_ms") return {one.held_ms, ""};
  if (key == "time_left_ms") return {one.time_left_ms, ""};
  if (key == "permits") return {one.permits, ""};
  if (key == "waiters") return {one.waiters, ""};
  if (key == "waited_ms") return {one.waited_ms, ""};
  if (key == "grants") return {one.grants, ""};
  if (key == "contended") return {one.contended, ""};
  if (key == "waited_total_ms") return {one.waited_total_ms, ""};
  if (key == "waits") return {0, one.waits};
  if (key == "retained") return {one.retained, ""};
  if (key == "threads") return {0, one.threads};
  if (key == "source") return {0, one.source};
  no_such("field", key);
}

std::pair<std::int64_t, std::string_view> field_of(const mortise::history_event &one,
                                                   const std::string &key) {
  if (key == "event") return {0, one.event};
  if (key == "mode") return {0, one.mode};
  if (key == "why") return {0, one.why};
  if (key == "client") return {0, one.client};
  if (key == "host") return {0, one.host};
  if (key == "label") return {0, one.label};
  if (key == "pid") return {one.pid, ""};
  if (key == "handle") return {one.handle, ""};
  if (key == "token") return {one.token, ""};
  if (key == "permits") return {one.permits, ""};
  if (key == "place") return {one.place, ""};
  if (key == "time_us") return {one.time_us, ""};
  if (key == "lasted_us") return {one.lasted_us, ""};
  if (key == "error_us") return {one.error_us, ""};
  no_such("field", key);
}

std::vector<mortise::listing_entry> rows_of(const mortise::listing &taken) {
  return taken.entries();
}
std::vector<mortise::history_event> rows_of(const mortise::history &taken) {
  return taken.events();
}

template <class Listing>
void report_listing(const mortise::result<Listing> &taken, call &made) {
  made.came_to(taken);
  if (!taken) return;
  const std::string what = made.text_of("of");
  if (what.empty()) {
    made.value = taken->answered();
    made.text = taken->json();
  } else if (what == "unheard") {
    made.value = taken->silent() + taken->truncated();
  } else {
    std::int64_t sum = 0;
    std::string text;
    for (const auto &one : rows_of(*taken)) {
      const auto [number, word] = field_of(one, what);
      sum += number;
      text.append(word).append("\n");
    }
    made.value = sum;
    made.text = text;
  }
}

void report_stats(const mortise::result<mortise::stats> &counted, call &made) {
  made.came_to(counted);
  if (!counted) return;
  const std::string what = made.text_of("of");
  const auto samples = counted->samples();
  if (what.empty()) {
    made.value = static_cast<std::int64_t>(samples.size());
    made.text = counted->json();
  }
  for (const mortise::sample &sample : samples) {
    std::string text(sample.name);
    for (const auto &[label, value] : sample.labels) {
      text.append(" ").append(label).append("=").append(value);
    }
    if (text != what) continue;
    made.value = static_cast<std::int64_t>(sample.value);
    made.text = sample.type;
  }
}

void report_health(const mortise::result<mortise::health> &found, call &made) {
  made.came_to(found);
  if (!found) return;
  const std::string what = made.text_of("of");
  const auto findings = found->findings();
  if (what.empty()) made.value = static_cast<int>(found->worst());
  if (what == "json") {
    made.value = static_cast<std::int64_t>(findings.size());
    made.text = found->json();
  }
  for (const mortise::finding &finding : findings) {
    if (finding.name != what) continue;
    made.value = static_cast<int>(finding.severity);
    for (const std::string_view part : {mortise::text(finding.severity), finding.server,
                                        finding.value, finding.consequence, finding.remedy}) {
      made.text.append(made.text.empty() ? "" : "\n").append(part);
    }
    return;
  }
}

/** A child's handles are inert: it returns its result by its exit status. */
mortise::status ping_of_child(mortise::client &of) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const auto answered = of.ping(std::nothrow);
    _exit(answered ? 0 : -static_cast<int>(answered.error().code()));
  }
  int wait_status = 0;
  waitpid(child, &wait_status, 0);
  return static_cast<mortise::status>(-WEXITSTATUS(wait_status));
}

void call_on(mortise::client &of, const std::string &method, call &made) {
  if (method == "ping") {
    made.came_to(of.ping(std::nothrow));
  } else if (method == "set_credentials") {
    made.came_to(of.set_credentials(made.text_of("user"), made.text_of("password"), std::nothrow));
  } else if (method == "check_health") {
    report_health(of.check_health(std::nothrow), made);
  } else if (method == "last_health") {
    report_health(of.last_health(std::nothrow), made);
  } else if (method == "list_locks") {
    const auto patience = std::chrono::milliseconds(made.number("timeout_ms"));
    report_listing(of.list_locks(patience, std::nothrow), made);
  } else if (method == "scan_locks") {
    const auto patience = std::chrono::milliseconds(made.number("timeout_ms"));
    const auto pattern = made.has("pattern") ? made.text_of("pattern") : std::string();
    report_listing(of.scan_locks(pattern, made.number("most_keys", 1000), patience, std::nothrow),
                   made);
  } else if (method == "list_history") {
    const auto patience = std::chrono::milliseconds(made.number("timeout_ms"));
    const auto window = std::chrono::milliseconds(made.number("window_ms", 60'000));
    report_listing(of.list_history(made.text_of("lock"), window, patience, std::nothrow), made);
  } else if (method == "stats") {
    report_stats(of.stats(std::nothrow), made);
  } else if (method == "fork") {
    made.came_to(ping_of_child(of));
  } else {
    no_such("method", method);
  }
}

void call_on(std::monostate, const std::string &method, call &) { no_such("object for", method); }

std::int64_t tag_of(const handle &of) { return &of - the_state().handles.data(); }

void watch_log(handle &of, call &made) {
  auto &client = of.as<mortise::client>();
  const auto level = static_cast<mortise::log_level>(made.number("level"));
  made.came_to(made.has("level") ? client.watch_log(*the_state().queue, tag_of(of), level)
                                 : client.unwatch_log());
}

void watch_stats(handle &of, call &made) {
  auto &client = of.as<mortise::client>();
  const auto interval = std::chrono::milliseconds(made.number("interval_ms"));
  made.came_to(made.has("interval_ms")
                   ? client.watch_stats(*the_state().queue, tag_of(of), interval)
                   : client.unwatch_stats());
}

void watch_locks(handle &of, call &made) {
  auto &client = of.as<mortise::client>();
  made.came_to(made.number("is_on") != 0 ? client.watch_locks(*the_state().queue, tag_of(of))
                                         : client.unwatch_locks());
}

void observe(handle &of, call &made) {
  auto &election = of.as<mortise::election>();
  const auto interval = std::chrono::milliseconds(made.number("interval_ms"));
  made.came_to(made.has("interval_ms") ? election.observe(*the_state().queue, tag_of(of), interval)
                                       : election.unobserve());
}

void watch(handle &of, call &made) {
  state &on = the_state();
  const auto tag = tag_of(of);
  std::visit(
      [&](auto &object) {
        if constexpr (std::is_base_of_v<mortise::handle, std::decay_t<decltype(object)>>) {
          made.came_to(object.watch(*on.queue, tag));
        }
      },
      of.object);
}

}  // namespace

void make_call(handle &of, const std::string &method, call &made) {
  if (method == "free") {
    of.object = std::monostate();
  } else if (method == "watch") {
    watch(of, made);
  } else if (method == "observe") {
    observe(of, made);
  } else if (method == "watch_log") {
    watch_log(of, made);
  } else if (method == "watch_stats") {
    watch_stats(of, made);
  } else if (method == "watch_locks") {
    watch_locks(of, made);
  } else {
    std::visit([&](auto &object) { call_on(object, method, made); }, of.object);
  }
}

void make_call(mortise::hold &of, const std::string &method, call &made) {
  if (method == "unlock") {
    made.came_to(of.unlock(std::nothrow));
  } else if (method == "extend") {
    made.came_to(of.extend(made.lease(), std::nothrow));
  } else if (method == "progress") {
    made.came_to(of.progress(std::nothrow));
  } else if (method == "set_value") {
    made.came_to(of.set_value(made.text_of("value"), std::nothrow));
  } else if (method == "export") {
    export_from(of, made);
  } else if (method == "upgrade") {
    made.came_to(of.try_upgrade(std::nothrow));
    made.token = of.token();
  } else if (method == "downgrade") {
    made.came_to(of.downgrade(std::nothrow));
  } else if (method == "token") {
    made.value = of.token();
  } else if (method == "is_held") {
    made.value = of.is_held();
  } else if (method == "valid_ms") {
    made.value = of.valid().count();
  } else {
    no_such("method", method);
  }
}
