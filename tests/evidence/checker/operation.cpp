#include "evidence/checker/operation.hpp"

#include <algorithm>
#include <array>
#include <istream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace mortise::evidence {

namespace {

using nlohmann::json;

constexpr std::string_view format = "mortise-history-1";
constexpr std::array<std::string_view, 4> kinds{"mutex", "reentrant", "rw", "semaphore"};
constexpr std::array<std::string_view, 9> names_of_operations{
    "acquire", "try", "unlock", "extend", "upgrade", "downgrade", "is_held", "lost", "write"};

template <class Texts>
bool contains(const Texts& texts, std::string_view text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

class line_reader {
 public:
  line_reader(const json& line, operation_history& history) : line_(line), history_(history) {}

  operation read() {
    operation one;
    one.process = number("process");
    one.client = number("client");
    one.owner = number("owner");
    one.kind = text("kind");
    one.name = text("name");
    one.op = text("op");
    one.mode = text("mode");
    one.status = text("status");
    one.call_ns = number("call_ns");
    one.return_ns = number("return_ns");
    one.token = number("token");
    one.hold = number("hold");
    one.lease_end_ns = number("lease_end_ns");
    one.permits = number("permits");
    one.capacity = number("capacity");
    one.is_held = line_.value("held", false);
    one.is_accepted = line_.value("accepted", false);
    one.highest = number("highest");
    one.multi = number("multi");
    one.members = number("members");
    return one;
  }

 private:
  std::int64_t number(const char* key) { return line_.value(key, std::int64_t{0}); }
  std::string_view text(const char* key) {
    return *history_.texts.insert(line_.value(key, std::string())).first;
  }

  const json& line_;
  operation_history& history_;
};

void keep(const operation& one, operation_history& history) {
  if (one.op == "fault") {
    if (one.kind != "client") history.faults.push_back(one);
    return;
  }
  if (!contains(names_of_operations, one.op) || !contains(kinds, one.kind) ||
      one.return_ns < one.call_ns) {
    throw std::runtime_error("not an operation");
  }
  history.operations.push_back(one);
}

void read_header(const std::string& line, operation_history& history) {
  const auto header = json::parse(line, nullptr, false);
  if (!header.is_object() || header.value("format", std::string()) != format) {
    throw std::runtime_error("the format is not " + std::string(format));
  }
  history.is_exclusive = header.value("exclusive", false);
}

}  // namespace

operation_history read_operations(std::istream& in) {
  operation_history history;
  std::string line;
  std::size_t number = 0;
  while (std::getline(in, line)) {
    // A line without its end was being written when the recorder died.
    history.is_cut = in.eof();
    if (history.is_cut) break;
    ++number;
    try {
      if (number == 1) {
        read_header(line, history);
      } else {
        keep(line_reader(json::parse(line), history).read(), history);
      }
    } catch (const std::exception& error) {
      throw std::runtime_error("line " + std::to_string(number) + ": " + error.what());
    }
  }
  if (number == 0) throw std::runtime_error("line 1: the format is not " + std::string(format));
  return history;
}

}  // namespace mortise::evidence
