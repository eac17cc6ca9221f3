#include "support/history.hpp"

#include <algorithm>
#include <istream>
#include <ostream>
#include <set>
#include <sstream>
#include <tuple>
#include <unordered_map>

namespace mortise::testing {

namespace {

constexpr std::string_view hex_digits = "0123456789ABCDEF";

std::string encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte < 127 && c != '%') {
      out += c;
    } else {
      out += '%';
      out += hex_digits[byte / 16U];
      out += hex_digits[byte % 16U];
    }
  }
  return out.empty() ? "%" : out;
}

bool decode(std::string_view text, std::string& out) {
  out.clear();
  if (text == "%") return true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return false;
    const auto high = hex_digits.find(text[i + 1]);
    const auto low = hex_digits.find(text[i + 2]);
    if (high == std::string_view::npos || low == std::string_view::npos) return false;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return true;
}

std::string describe(const hold_record& hold) {
  std::ostringstream out;
  out << hold.holder << " (token " << hold.token << ", " << hold.start_ns << " to " << hold.end_ns
      << " ns)";
  return out.str();
}

using holds = std::vector<const hold_record*>;

class name_check {
 public:
  name_check(const history_rules& rules, std::size_t most, std::vector<std::string>& found)
      : rules_(rules), most_(most), found_(found) {}

  void run(holds all) {
    check_tokens(all);
    if (!rules_.is_exclusive) return;
    for (const auto* hold : all) {
      if (hold->end_ns < hold->start_ns) report("ends before it begins", *hold, *hold);
    }
    // Whose hold was over when it first looked has never believed that it holds.
    std::erase_if(all, [](const auto* hold) { return hold->end_ns <= hold->start_ns; });
    check_permits(all);
    auto by_end = all;
    std::sort(all.begin(), all.end(), [](const auto* left, const auto* right) {
      return std::tie(left->start_ns, left->end_ns) < std::tie(right->start_ns, right->end_ns);
    });
    std::sort(by_end.begin(), by_end.end(), [](const auto* left, const auto* right) {
      return std::tie(left->end_ns, left->start_ns) < std::tie(right->end_ns, right->start_ns);
    });
    // Of those that ended before, the highest token: of all, and of the whole ones.
    const hold_record* highest = nullptr;
    const hold_record* highest_whole = nullptr;
    std::size_t ended = 0;
    for (const auto* hold : all) {
      for (; ended < by_end.size(); ++ended) {
        const auto* before = by_end[ended];
        if (before->end_ns > hold->start_ns || before->start_ns >= hold->start_ns) break;
        if (highest == nullptr || before->token > highest->token) highest = before;
        if (!before->is_whole()) continue;
        if (highest_whole == nullptr || before->token > highest_whole->token) {
          highest_whole = before;
        }
      }
      const auto* const above = hold->is_whole() ? highest : highest_whole;
      if (above != nullptr && above->token >= hold->token && !is_kept_part(*above, *hold)) {
        report("has a higher token than the later", *above, *hold);
      }
    }
  }

 private:
  // Whether a holder went on with a part of what it had as a whole.
  static bool is_kept_part(const hold_record& whole, const hold_record& part) {
    return whole.token == part.token && whole.holder == part.holder && whole.is_whole() &&
           !part.is_whole();
  }
  void check_permits(holds all) {
    std::sort(all.begin(), all.end(), [](const auto* left, const auto* right) {
      return std::tie(left->start_ns, left->end_ns) < std::tie(right->start_ns, right->end_ns);
    });
    const auto ends_earlier = [](const auto* left, const auto* right) {
      return left->end_ns < right->end_ns;
    };
    std::multiset<const hold_record*, decltype(ends_earlier)> present(ends_earlier);
    std::int64_t permits = 0;
    for (const auto* hold : all) {
      while (!present.empty() && (*present.begin())->end_ns <= hold->start_ns) {
        permits -= (*present.begin())->permits;
        present.erase(present.begin());
      }
      permits += hold->permits;
      if (permits > hold->capacity) report("overlaps", **present.rbegin(), *hold);
      present.insert(hold);
    }
  }
  void check_tokens(holds& all) {
    std::sort(all.begin(), all.end(),
              [](const auto* left, const auto* right) { return left->token < right->token; });
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i]->token <= 0) report("has no token", *all[i], *all[i]);
      if (i == 0 || all[i]->token != all[i - 1]->token) continue;
      const auto& one = *all[i - 1];
      const auto& other = *all[i];
      const bool is_shared = !one.is_whole() && !other.is_whole();
      if (!is_shared && !is_kept_part(one, other) && !is_kept_part(other, one)) {
        report("has the same token as", one, other);
      }
    }
  }
  void report(const char* what, const hold_record& first, const hold_record& second) {
    if (found_.size() >= most_) return;
    auto text = "\"" + first.name + "\": " + describe(first) + " " + what;
    if (&first != &second) text += " " + describe(second);
    found_.push_back(std::move(text));
  }

  const history_rules& rules_;
  std::size_t most_;
  std::vector<std::string>& found_;
};

}  // namespace

std::vector<std::string> check_history(std::vector<hold_record> history, const history_rules& rules,
                                       std::size_t most) {
  std::unordered_map<std::string_view, holds> names;
  for (const auto& hold : history) names[hold.name].push_back(&hold);
  std::vector<std::string> found;
  for (auto& [name, all] : names) name_check(rules, most, found).run(std::move(all));
  std::sort(found.begin(), found.end());
  return found;
}

void write_history(std::ostream& out, const std::vector<hold_record>& history) {
  for (const auto& hold : history) {
    out << "hold " << encode(hold.name) << ' ' << encode(hold.holder) << ' ' << hold.token << ' '
        << hold.start_ns << ' ' << hold.end_ns;
    if (hold.permits != 1 || hold.capacity != 1) out << ' ' << hold.permits << ' ' << hold.capacity;
    out << '\n';
  }
}

bool read_history(std::istream& in, std::vector<hold_record>& history) {
  std::string line;
  while (std::getline(in, line)) {
    if (line.empty()) continue;
    std::istringstream words(line);
    std::string kind;
    std::string name;
    std::string holder;
    std::string rest;
    hold_record hold;
    if (!(words >> kind >> name >> holder >> hold.token >> hold.start_ns >> hold.end_ns)) {
      return false;
    }
    const bool has_permits = !(words >> std::ws).eof();
    if (has_permits && !(words >> hold.permits >> hold.capacity)) return false;
    if (words >> rest || kind != "hold" || !decode(name, hold.name) ||
        !decode(holder, hold.holder)) {
      return false;
    }
    history.push_back(std::move(hold));
  }
  return true;
}

}  // namespace mortise::testing
