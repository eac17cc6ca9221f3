#include "statistics/snapshot.hpp"

#include <charconv>

#include "base/text/json.hpp"
#include "base/text/utf8.hpp"

namespace mortise::statistics {

namespace {

constexpr double ns_per_second = ns_per_s;

double seconds(std::uint64_t ns) noexcept { return static_cast<double>(ns) / ns_per_second; }

// The shortest text of this number, in any locale.
std::string number_text(double value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  return {digits, end};
}

// All families of a client, in the order of output.
std::vector<family> all_families() {
  using enum family_type;
  return {
      {"mortise_acquire_seconds", histogram, "Duration of acquires and tries, with any outcome.",
       "`kind`, `outcome`, `name`"},
      {"mortise_hold_seconds", histogram, "Duration of ended holds.", "`kind`, `name`"},
      {"mortise_waiters", gauge, "Acquires and tries in progress.", "`kind`, `name`"},
      {"mortise_holds", gauge, "Current holds.", "`kind`, `name`"},
      {"mortise_contended_total", counter, "Acquires that found the lock taken or awaited.",
       "`kind`, `name`"},
      {"mortise_handoffs_total", counter,
       "Grants to acquires that had found the lock taken, by the servers or within this client.",
       "`kind`, `path`, `name`"},
      {"mortise_losses_total", counter, "Lost holds, by reason.", "`kind`, `reason`, `name`"},
      {"mortise_renewals_total", counter, "Answered renewals of holds.",
       "`kind`, `outcome`, `name`"},
      {"mortise_release_total", counter, "Unlocks, by outcome.", "`kind`, `outcome`, `name`"},
      {"mortise_round_trip_seconds", histogram,
       "Time from sending a request to reading the server's reply.", "`server`"},
      {"mortise_connections", gauge, "Connections to servers, by state.", "`server`, `state`"},
      {"mortise_reconnects_total", counter,
       "Reconnects, by the reason for the previous disconnect.", "`server`, `reason`"},
  };
}

void add_help(std::string& text, const family& item) {
  text.append("# HELP ").append(item.name).append(" ").append(item.help);
  text.append("\n# TYPE ").append(item.name).append(" ").append(type_text(item.type)).append("\n");
}

// Escapes the value for the text format, and replaces invalid UTF-8, so that a scrape never fails.
void add_label_value(std::string& text, std::string_view value) {
  while (!value.empty()) {
    const auto size = utf8_size(value);
    if (size == 0) {
      text += "\xEF\xBF\xBD";
    } else if (value.front() == '\n') {
      text += "\\n";
    } else {
      if (value.front() == '"' || value.front() == '\\') text += '\\';
      text.append(value.substr(0, size));
    }
    value.remove_prefix(size == 0 ? 1 : size);
  }
}

void add_labels(std::string& text, const labels& pairs) {
  if (pairs.empty()) return;
  char before = '{';
  for (const auto& [name, value] : pairs) {
    text.append(1, before).append(name).append("=\"");
    add_label_value(text, value);
    text += '"';
    before = ',';
  }
  text += '}';
}

// Passes each number of an entry to `take`, with its name in Prometheus' text.
template <class Take>
void for_each_sample(const family& item, const family::entry& entry, Take&& take) {
  const std::string name = item.name;
  if (item.type != family_type::histogram) return take(name, entry.labels, entry.value);
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < entry.durations.buckets.size(); ++i) {
    count += entry.durations.buckets[i];
    auto with_bound = entry.labels;
    with_bound.emplace_back("le", bound_text(i));
    take(name + "_bucket", with_bound, static_cast<double>(count));
  }
  take(name + "_sum", entry.labels, seconds(entry.durations.sum_ns));
  take(name + "_count", entry.labels, static_cast<double>(count));
}

void add_json_durations(std::string& text, const histogram::reading& durations) {
  std::uint64_t count = 0;
  text += ",\"buckets\":[";
  for (std::size_t i = 0; i < bucket_bounds_ns.size(); ++i) {
    count += durations.buckets[i];
    text.append(i == 0 ? "" : ",").append("[").append(bound_text(i)).append(",");
    text.append(std::to_string(count)).append("]");
  }
  text.append("],\"count\":").append(std::to_string(durations.count()));
  text.append(",\"sum\":").append(number_text(seconds(durations.sum_ns)));
}

void add_json_entry(std::string& text, family_type type, const family::entry& entry) {
  text += "{\"labels\":{";
  for (const auto& label : entry.labels) {
    if (&label != &entry.labels.front()) text += ',';
    append_json(text, label.first);
    text += ':';
    append_json(text, label.second);
  }
  text += '}';
  if (type == family_type::histogram) {
    add_json_durations(text, entry.durations);
  } else {
    text.append(",\"value\":").append(number_text(entry.value));
  }
  text += '}';
}

}  // namespace

std::string bound_text(std::size_t bucket) {
  if (bucket == bucket_bounds_ns.size()) return "+Inf";
  return number_text(seconds(static_cast<std::uint64_t>(bucket_bounds_ns[bucket])));
}

const char* type_text(family_type type) noexcept {
  switch (type) {
    case family_type::counter:
      return "counter";
    case family_type::gauge:
      return "gauge";
    case family_type::histogram:
      break;
  }
  return "histogram";
}

snapshot::snapshot() : families_(all_families()) {}

family& snapshot::find(std::string_view name) {
  for (auto& one : families_) {
    if (one.name == name) return one;
  }
  return families_.front();  // every name is in the table
}

void snapshot::add(std::string_view family_name, labels pairs, double value) {
  find(family_name).entries.push_back({std::move(pairs), value, {}});
}

void snapshot::add(std::string_view family_name, labels pairs, const histogram& durations) {
  const auto read = durations.read();
  if (read.count() == 0) return;
  find(family_name).entries.push_back({std::move(pairs), 0, read});
}

std::vector<sample> snapshot::samples() const {
  std::vector<sample> all;
  for (const auto& one : families_) {
    for (const auto& entry : one.entries) {
      for_each_sample(one, entry, [&](const std::string& name, const labels& pairs, double value) {
        all.push_back({name, type_text(one.type), pairs, value});
      });
    }
  }
  return all;
}

std::string snapshot::prometheus() const {
  std::string text;
  for (const auto& one : families_) {
    if (one.entries.empty()) continue;
    add_help(text, one);
    for (const auto& entry : one.entries) {
      for_each_sample(one, entry, [&](const std::string& name, const labels& pairs, double value) {
        text += name;
        add_labels(text, pairs);
        text.append(" ").append(number_text(value)).append("\n");
      });
    }
  }
  return text;
}

std::string snapshot::json() const {
  std::string text = "{";
  for (const auto& one : families_) {
    if (&one != &families_.front()) text += ',';
    append_json(text, one.name);
    text.append(":{\"type\":\"").append(type_text(one.type)).append("\",\"help\":");
    append_json(text, one.help);
    text += ",\"samples\":[";
    for (const auto& entry : one.entries) {
      if (&entry != &one.entries.front()) text += ',';
      add_json_entry(text, one.type, entry);
    }
    text += "]}";
  }
  return text.append("}");
}

}  // namespace mortise::statistics
