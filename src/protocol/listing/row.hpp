// The rows of a listing as named fields. JSON and the C ABI are written from one list of fields.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/text/decimal.hpp"
#include "base/text/json.hpp"

namespace mortise::protocol {

// The number that a text begins with; 0 for none.
template <class Number>
Number read_number(std::string_view text) noexcept {
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

template <class Row>
struct row_field {
  std::string_view name;
  std::string Row::*text;     // either text
  std::int64_t Row::*number;  // or number
  bool is_shown = true;       // otherwise only for clients among themselves
};

// The field of a row that is shown by this name, or nullptr.
template <class Row, class Fields>
const row_field<Row>* find_field(const Fields& fields, std::string_view name) noexcept {
  for (const auto& one : fields) {
    if (one.is_shown && one.name == name) return &one;
  }
  return nullptr;
}

template <class Row, class Fields>
const std::string* row_text(const Row& row, const Fields& fields, std::string_view name) noexcept {
  const auto* const which = find_field<Row>(fields, name);
  return which == nullptr || which->text == nullptr ? nullptr : &(row.*which->text);
}

template <class Row, class Fields>
std::int64_t row_number(const Row& row, const Fields& fields, std::string_view name) noexcept {
  const auto* const which = find_field<Row>(fields, name);
  return which == nullptr || which->number == nullptr ? 0 : row.*which->number;
}

// As an object with all fields that are shown.
template <class Row, class Fields>
void append_row(std::string& out, const Row& row, const Fields& fields) {
  char mark = '{';
  for (const auto& each : fields) {
    if (!each.is_shown) continue;
    out += std::exchange(mark, ',');
    append_json(out, each.name);
    out += ':';
    if (each.text != nullptr) {
      append_json(out, row.*each.text);
    } else {
      out += decimal(row.*each.number);
    }
  }
  out += '}';
}

}  // namespace mortise::protocol
