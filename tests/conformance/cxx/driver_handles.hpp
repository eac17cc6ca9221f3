/** The driver's state: handles and holds by their names, and one queue for all of them. */
#ifndef MORTISE_CONFORMANCE_HANDLES_HPP
#define MORTISE_CONFORMANCE_HANDLES_HPP

#include <map>
#include <mortise/mortise.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/** A place in the list is the tag of its notices. What was freed leaves its place empty. */
struct handle {
  std::string name;
  std::variant<std::monostate, mortise::client, mortise::lock, mortise::rw, mortise::semaphore,
               mortise::election, mortise::multi>
      object;

  template <class Kind>
  Kind &as() {
    return std::get<Kind>(object);
  }
};

/** Tags of calls are numbers of lines above these. */
constexpr std::size_t most_handles = 128;

struct state {
  std::vector<handle> handles;
  std::map<std::string, mortise::hold> holds;
  std::optional<mortise::queue> queue;
};

/** The only one, which is never destroyed: a driver ends without freeing anything. */
inline state &the_state() {
  static state &only = *[] {
    auto *made = new state;
    made->handles.reserve(most_handles);
    return made;
  }();
  return only;
}

/** By its name; the program ends where there is none. */
handle &find_handle(const std::string &name);

#endif
