#include "simulation/harness/trace_file.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/text/json.hpp"
#include "protocol/scripts/scripts.hpp"

namespace mortise::simulation {

namespace {

std::string name_of(std::string_view field) { return ", \"" + std::string(field) + "\": "; }

void append_reply(std::string& out, const reply& from) {
  switch (from.type) {
    case reply::form::nil:
      out += "null";
      return;
    case reply::form::integer:
      out += std::to_string(from.integer);
      return;
    case reply::form::array:
    case reply::form::push:
      out += '[';
      for (const auto& item : from.items) {
        if (out.back() != '[') out += ", ";
        append_reply(out, item);
      }
      out += ']';
      return;
    default:
      append_json(out, (from.is_error() ? "ERROR " : "") + from.text);
  }
}

}  // namespace

std::string field(std::string_view name, std::int64_t value) {
  return name_of(name) + std::to_string(value);
}

std::string field(std::string_view name, std::string_view text) {
  auto made = name_of(name);
  append_json(made, text);
  return made;
}

std::string field(std::string_view name, const reply& value) {
  auto made = name_of(name);
  append_reply(made, value);
  return made;
}

const redis::script* find_script(const arguments& command) {
  if (command.size() < 3 || !command[0].starts_with("EVAL")) return nullptr;
  const auto all = scripts::all();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto* script) {
    return command[1] == (command[0] == "EVAL" ? script->text : script->sha1);
  });
  return found == all.end() ? nullptr : *found;
}

const std::string& script_argument(const arguments& command, std::size_t number) {
  return command.at(2 + static_cast<std::size_t>(std::stoi(command.at(2))) + number);
}

trace_file::trace_file(const std::string& path, const std::string& fields)
    : file_(std::fopen(path.c_str(), "w")) {
  if (!file_) throw std::runtime_error("cannot write " + path);
  std::fprintf(file_.get(), "{\"format\": \"mortise-trace-1\"%s}\n", fields.c_str());
}

void trace_file::write(std::string_view event, time_ns at, const std::string& fields) {
  std::fprintf(file_.get(), "{\"ns\": %ld, \"event\": \"%s\"%s}\n", at, std::string(event).c_str(),
               fields.c_str());
}

}  // namespace mortise::simulation
