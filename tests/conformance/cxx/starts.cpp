/** The calls that end in an event, and queries, which end in a line of a thread of their own. */
#include <cstdio>
#include <thread>

#include "call.hpp"

namespace {

/** Prints the end of a call as C's driver does: `done` with the status. */
void answer_later(const std::string &id, const mortise::result<mortise::info> &given) {
  const mortise::status code = given ? mortise::status::ok : given.error().code();
  flockfile(stdout);
  std::printf("done %s %s", id.c_str(), words_status(static_cast<mortise_status>(code)));
  if (!given) {
    const mortise::error &why = given.error();
    std::printf(" retryable=%d ambiguous=%d", why.is_retryable(), why.is_ambiguous());
    words_print("text", why.message().data());
  }
  std::putchar('\n');
  std::fflush(stdout);
  funlockfile(stdout);
}

/** What those of one name have; whether it was that. */
bool start_named(mortise::named_handle &of, const std::string &method, call &made) {
  if (method == "set_value") {
    made.came_to(of.set_value_async(*the_state().queue, made.tag(), made.text_of("value")));
    return true;
  }
  if (method != "query") return false;
  std::thread([&of, id = std::string(made.line().id)] {
    answer_later(id, of.query(std::nothrow));
  }).detach();
  return true;
}

template <class Kind>
void start_whole(Kind &of, const std::string &method, call &made) {
  mortise::queue &on = *the_state().queue;
  if (method == "try") {
    made.came_to(of.try_acquire_async(on, made.tag()));
  } else if (method == "acquire") {
    made.came_to(of.acquire_async(on, made.tag(), made.wait()));
  } else if (method == "unlock") {
    made.came_to(of.unlock_async(on, made.tag()));
  } else if (method == "extend") {
    made.came_to(of.extend_async(on, made.tag(), made.lease()));
  } else {
    no_such("method", method);
  }
}

void start_on(mortise::lock &of, const std::string &method, call &made) {
  if (!start_named(of, method, made)) start_whole(of, method, made);
}

void start_on(mortise::election &of, const std::string &method, call &made) {
  if (start_named(of, method, made)) return;
  mortise::queue &on = *the_state().queue;
  if (method == "campaign") {
    made.came_to(of.campaign_async(on, made.tag(), made.wait()));
  } else if (method == "resign") {
    made.came_to(of.resign_async(on, made.tag()));
  } else if (method == "extend") {
    made.came_to(of.extend_async(on, made.tag(), made.lease()));
  } else {
    no_such("method", method);
  }
}

void start_on(mortise::multi &of, const std::string &method, call &made) {
  start_whole(of, method, made);
}

void start_on(mortise::semaphore &of, const std::string &method, call &made) {
  if (start_named(of, method, made)) return;
  mortise::queue &on = *the_state().queue;
  if (method == "try") {
    made.came_to(of.try_acquire_async(on, made.tag(), made.weight()));
  } else if (method == "acquire") {
    made.came_to(of.acquire_async(on, made.tag(), made.wait(), made.weight()));
  } else if (method == "release") {
    made.came_to(of.release_async(on, made.tag()));
  } else if (method == "extend") {
    made.came_to(of.extend_async(on, made.tag(), made.lease()));
  } else {
    no_such("method", method);
  }
}

void start_on(mortise::rw &of, const std::string &method, call &made) {
  if (start_named(of, method, made)) return;
  mortise::queue &on = *the_state().queue;
  if (method == "read_try") {
    made.came_to(of.try_read_async(on, made.tag()));
  } else if (method == "read_acquire") {
    made.came_to(of.read_async(on, made.tag(), made.wait()));
  } else if (method == "read_unlock") {
    made.came_to(of.unlock_shared_async(on, made.tag()));
  } else if (method == "write_try") {
    made.came_to(of.try_write_async(on, made.tag()));
  } else if (method == "write_acquire") {
    made.came_to(of.write_async(on, made.tag(), made.wait()));
  } else if (method == "write_unlock") {
    made.came_to(of.unlock_async(on, made.tag()));
  } else if (method == "upgrade") {
    made.came_to(of.try_upgrade_async(on, made.tag()));
  } else if (method == "downgrade") {
    made.came_to(of.downgrade_async(on, made.tag()));
  } else if (method == "extend") {
    made.came_to(of.extend_async(on, made.tag(), made.lease()));
  } else {
    no_such("method", method);
  }
}

template <class Other>
void start_on(Other &, const std::string &method, call &) {
  no_such("method", method);
}

}  // namespace

void start_call(handle &of, const std::string &method, call &made) {
  std::visit([&](auto &object) { start_on(object, method, made); }, of.object);
}
