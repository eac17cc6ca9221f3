/**
 * The driver in C++: executes the runner's commands, one a line. ../README.md has the lines. Only
 * the public headers are used.
 */
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "call.hpp"

handle &find_handle(const std::string &name) {
  for (handle &one : the_state().handles) {
    if (one.name == name) return one;
  }
  no_such("handle", name);
}

void no_such(const char *what, const std::string &name) {
  std::fprintf(stderr, "driver: no %s %s\n", what, name.c_str());
  std::exit(2);
}

void answer(const call &made) {
  const auto code = made.failure ? made.failure->code() : mortise::status::ok;
  std::printf("%s %s", made.line().id, words_status(static_cast<mortise_status>(code)));
  if (made.token != 0) std::printf(" token=%" PRId64, made.token);
  if (made.value) std::printf(" value=%" PRId64, *made.value);
  if (made.failure && code < mortise::status::ok) {
    std::printf(" retryable=%d ambiguous=%d", made.failure->is_retryable(),
                made.failure->is_ambiguous());
    words_print("printed", std::string(made.failure->server_text()).c_str());
  }
  const std::string text = made.failure ? std::string(made.failure->message()) : made.text;
  words_print("text", text.c_str());
  std::putchar('\n');
}

namespace {

mortise::options options_of(const words &line) {
  mortise::options given;
  for (int i = 0; i < line.count; ++i) {
    const word &one = line.words[i];
    if (std::strncmp(one.key, "opt.", 4) == 0) given.set(one.key + 4, {one.value, one.size});
  }
  return given;
}

/** `x,y:read,z:write,s:2` */
mortise::result<void> add_members(mortise::multi &to, const std::string &members) {
  for (std::size_t begin = 0; begin < members.size();) {
    const std::size_t end = std::min(members.find(',', begin), members.size());
    const std::string member = members.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t colon = std::min(member.find(':'), member.size());
    handle &of = find_handle(member.substr(0, colon));
    const std::string mode = member.substr(std::min(colon + 1, member.size()));
    mortise::result<void> added;
    if (std::holds_alternative<mortise::lock>(of.object)) {
      added = to.add(of.as<mortise::lock>(), std::nothrow);
    } else if (std::holds_alternative<mortise::semaphore>(of.object)) {
      added = to.add(of.as<mortise::semaphore>(), std::atoll(mode.c_str()), std::nothrow);
    } else if (mode == "read") {
      added = to.add_reader(of.as<mortise::rw>(), std::nothrow);
    } else {
      added = to.add_writer(of.as<mortise::rw>(), std::nothrow);
    }
    if (!added) return added;
  }
  return {};
}

/** Takes a place among the handles, if it could be made. */
template <class Kind>
void keep(mortise::result<Kind> given, call &made) {
  made.came_to(given);
  state &on = the_state();
  if (!given || on.handles.size() == most_handles) return;
  on.handles.push_back({made.line().third, *std::move(given)});
  if (!on.queue) {
    auto queue = mortise::queue::make(on.handles.front().as<mortise::client>());
    if (queue) on.queue = *std::move(queue);
  }
}

void make_client(call &made) {
  const auto with = options_of(made.line());
  keep(made.has("url") ? mortise::client::open(made.text_of("url"), with)
                       : mortise::client::open_from_environment(with),
       made);
}

void make_handle(call &made) {
  const std::string kind = made.line().second, name = made.text_of("name");
  const auto with = options_of(made.line());
  auto &client = find_handle(made.text_of("client")).as<mortise::client>();
  if (kind == "lock") {
    keep(mortise::lock::make(client, name, with), made);
  } else if (kind == "rw") {
    keep(mortise::rw::make(client, name, with), made);
  } else if (kind == "election") {
    keep(mortise::election::make(client, name, with), made);
  } else if (kind == "semaphore") {
    keep(mortise::semaphore::make(client, name, made.number("permits", 1), with), made);
  } else {
    auto multi = mortise::multi::make(client);
    const auto added = multi ? add_members(*multi, made.text_of("members"))
                             : mortise::result<void>(mortise::unexpected(multi.error()));
    made.came_to(added);
    if (added) keep(std::move(multi), made);
  }
}

void call_queue(const std::string &method, call &made) {
  state &on = the_state();
  if (method == "shut_down") {
    on.queue->shutdown();
  } else if (method == "limit") {
    on.queue.reset();
    auto queue =
        mortise::queue::make(on.handles.front().as<mortise::client>(), made.number("permits", 1));
    made.came_to(queue);
    if (queue) on.queue = *std::move(queue);
  } else {
    no_such("method", method);
  }
}

void do_call(call &made) {
  const std::string on = made.line().second, method = made.line().third;
  const auto hold = the_state().holds.find(on);
  if (hold != the_state().holds.end()) {
    make_call(hold->second, method, made);
  } else if (on == "queue") {
    call_queue(method, made);
  } else {
    make_call(find_handle(on), method, made);
  }
}

/** A line of the log goes by its subject. */
std::string_view notice_of(const mortise::event &event) {
  if (event.kind() == mortise::event_kind::log) return text(event.subject());
  if (event.kind() == mortise::event_kind::stats) return "stats";
  if (event.kind() == mortise::event_kind::contended) return "contended";
  if (event.kind() == mortise::event_kind::leader) return "leader";
  if (event.kind() == mortise::event_kind::no_leader) return "no_leader";
  if (event.kind() == mortise::event_kind::wait_began) return "wait_began";
  if (event.kind() == mortise::event_kind::wait_failed) return "wait_failed";
  if (event.kind() == mortise::event_kind::hold_began) return "hold_began";
  if (event.kind() == mortise::event_kind::hold_changed) return "hold_changed";
  if (event.kind() == mortise::event_kind::hold_ended) return "hold_ended";
  return event.kind() == mortise::event_kind::lost ? "lost" : "at_risk";
}

/** Of a leader its value, and of a wait or a hold the lock and the status. */
std::string text_of(const mortise::event &event) {
  if (!event.lock_kind().empty()) {
    const auto status = words_status(static_cast<mortise_status>(event.status()));
    return std::string(event.lock_kind()) + ' ' + std::string(event.lock_name()) + ' ' + status;
  }
  const auto leader = event.leader();
  if (!leader) return std::string(event.message());
  const auto entries = leader->entries();
  return entries.empty() ? std::string() : std::string(entries.front().value);
}

void print_event(const mortise::event &event) {
  const auto code = static_cast<mortise_status>(event.status());
  if (event.tag() < static_cast<std::int64_t>(most_handles)) {
    const handle &of = the_state().handles[static_cast<std::size_t>(event.tag())];
    std::printf("notice %s %s reason=%d", of.name.c_str(), notice_of(event).data(),
                static_cast<int>(event.reason()));
    if (event.kind() == mortise::event_kind::log) {
      std::printf(" value=%d", static_cast<int>(event.level()));
    }
  } else {
    std::printf("done %" PRId64 " %s", event.tag() - static_cast<std::int64_t>(most_handles),
                words_status(code));
  }
  if (code < 0) {
    const mortise::error why = event.outcome().error();
    std::printf(" retryable=%d ambiguous=%d", why.is_retryable(), why.is_ambiguous());
  }
  if (event.token() != 0) std::printf(" token=%" PRId64, event.token());
  words_print("text", text_of(event).c_str());
  std::putchar('\n');
}

void pump(const call &made) {
  mortise::event event;
  mortise::queue &queue = *the_state().queue;
  auto wait = std::chrono::milliseconds(made.number("timeout_ms"));
  while (queue.next(event, wait) == mortise::status::ok) {
    print_event(event);
    wait = {};
  }
}

/** Frees everything, so that the next run finds a driver as if it had just started. */
void reset() {
  state &all = the_state();
  for (auto &[name, hold] : all.holds) hold.detach();  // The handle gives it back without waiting.
  all.holds.clear();
  while (!all.handles.empty()) all.handles.pop_back();
  all.queue.reset();
}

void execute(words &line) {
  call made(line);
  const std::string what = line.first;
  if (what == "new" && std::strcmp(line.second, "client") == 0) make_client(made);
  if (what == "new" && std::strcmp(line.second, "client") != 0) make_handle(made);
  if (what == "call") do_call(made);
  if (what == "start") start_call(find_handle(line.second), line.third, made);
  if (what == "pump") pump(made);
  if (what == "reset") reset();
  answer(made);
}

}  // namespace

int main() {
  static words line;
  while (words_read(&line) != 0) {
    flockfile(stdout);  // Threads of queries print, too.
    execute(line);
    std::fflush(stdout);
    funlockfile(stdout);
  }
  return 0;
}
