#include "support/partition/remote_client.hpp"

#include <map>
#include <sstream>
#include <stdexcept>

#include "support/handles.hpp"

namespace mortise::testing {

namespace {

// What the process does.
class obedient_client {
 public:
  explicit obedient_client(const std::string& url) : client_(open_client(url)) {}

  std::string obey(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    std::string name;
    std::int64_t timeout_ms = 0;
    words >> command >> name >> timeout_ms;
    const auto error = new_error();
    time_ns at = 0;
    const auto status = command == "ping"    ? mortise_client_ping(client_.get(), error.get())
                        : command == "watch" ? watch(lock(name), at)
                                             : call(command, lock(name), timeout_ms, error.get());
    std::ostringstream text;
    text << (at != 0 ? at : boot_now()) << ' ' << status << ' '
         << (name.empty() ? 0 : mortise_lock_token(lock(name))) << ' '
         << mortise_error_message(error.get());
    return text.str();
  }

 private:
  mortise_lock* lock(const std::string& name) {
    auto& known = locks_[name];
    if (!known) known = open_lock(client_, name);
    return known.get();
  }
  static mortise_status call(const std::string& command, mortise_lock* lock,
                             std::int64_t timeout_ms, mortise_error* error) {
    if (command == "try") return mortise_lock_try(lock, error);
    if (command == "acquire") return mortise_lock_acquire(lock, timeout_ms, error);
    if (command == "extend") return mortise_lock_extend(lock, 0, error);
    if (command == "unlock") return mortise_lock_unlock(lock, error);
    if (command == "held")
      return mortise_lock_is_held(lock) == 1 ? MORTISE_OK : MORTISE_NOT_ACQUIRED;
    throw std::runtime_error("nobody knows how to " + command);
  }
  static mortise_status watch(mortise_lock* lock, time_ns& last) {
    last = boot_now();
    return eventually(
               [&] {
                 const auto now = boot_now();
                 if (mortise_lock_is_held(lock) == 1) last = now;
                 return mortise_lock_deadline_ns(lock) == 0;  // lost, and not only doubtful
               },
               3 * patience_ms)
               ? MORTISE_LOST
               : MORTISE_OK;
  }

  const client_handle client_;
  std::map<std::string, lock_handle> locks_;
};

}  // namespace

remote_client::remote_client(breaking_network& network, std::size_t host, const std::string& url)
    : process_([&network, host, &url](child_end& test) {
        network.enter(host);
        obedient_client client(url);
        test.send("ready");
        for (;;) {
          const auto line = test.receive();
          if (line == "(gone)") return;
          if (line != "(silence)") test.send(client.obey(line));
        }
      }) {
  if (const auto text = process_.receive(); text != "ready") throw std::runtime_error(text);
}

remote_client::answer remote_client::receive() {
  constexpr int most_silences = 5;
  std::string line;
  for (int i = 0; i < most_silences; ++i) {
    line = process_.receive();
    if (line != "(silence)") break;
  }
  answer result;
  int status = 0;
  std::istringstream words(line);
  if (!(words >> result.at >> status >> result.token))
    throw std::runtime_error("a client says " + line);
  result.status = static_cast<mortise_status>(status);
  std::getline(words >> std::ws, result.message);
  return result;
}

}  // namespace mortise::testing
