#include "subject.hpp"

#include <sstream>
#include <stdexcept>

#include "harness.hpp"

namespace mortise::bench {

namespace {

// The details of one failure, as text.
class failure_text {
 public:
  failure_text() : error_(mortise_error_new()) {}
  ~failure_text() { mortise_error_free(error_); }
  failure_text(const failure_text&) = delete;
  failure_text& operator=(const failure_text&) = delete;
  [[nodiscard]] mortise_error* get() const { return error_; }
  // Throws unless the object was made.
  template <typename T>
  T* made(T* object, const char* tried) const {
    require(object != nullptr, std::string(tried) + ": " + mortise_error_message(error_));
    return object;
  }

 private:
  mortise_error* error_;
};

}  // namespace

void check(mortise_status status, const char* tried) {
  require(status == MORTISE_OK, std::string(tried) + ": " + mortise_status_text(status));
}

options_ptr make_options(const std::string& text) {
  failure_text why;
  options_ptr options(mortise_options_new());
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto split = word.find('=');
    const auto status =
        mortise_options_set(options.get(), word.data(), split, word.data() + split + 1,
                            word.size() - split - 1, why.get());
    require(status == MORTISE_OK, mortise_error_message(why.get()));
  }
  return options;
}

client_ptr open_client(const std::string& url, const std::string& options) {
  const failure_text why;
  const auto chosen = make_options(options);
  return client_ptr(why.made(mortise_client_new(url.data(), url.size(), chosen.get(), why.get()),
                             "mortise_client_new"));
}

lock_ptr make_lock(mortise_client* client, const std::string& name, const std::string& options) {
  const failure_text why;
  const auto chosen = make_options(options);
  return lock_ptr(
      why.made(mortise_lock_new(client, name.data(), name.size(), chosen.get(), why.get()),
               "mortise_lock_new"));
}

rw_ptr make_rw(mortise_client* client, const std::string& name, const std::string& options) {
  const failure_text why;
  const auto chosen = make_options(options);
  return rw_ptr(why.made(mortise_rw_new(client, name.data(), name.size(), chosen.get(), why.get()),
                         "mortise_rw_new"));
}

queue_ptr make_queue(mortise_client* client, std::int64_t capacity) {
  const failure_text why;
  return queue_ptr(why.made(mortise_queue_new(client, capacity, why.get()), "mortise_queue_new"));
}

std::vector<lock_ptr> make_locks(mortise_client* client, const std::string& purpose, int count,
                                 const std::string& options) {
  std::vector<lock_ptr> locks;
  locks.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    locks.push_back(make_lock(client, lock_name(purpose, i), options));
  }
  return locks;
}

}  // namespace mortise::bench
