// The sorted sets of the simulated Redis, each command as Redis 7.0 does it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "simulation/harness/redis_replies.hpp"

namespace mortise::simulation {

namespace {

const reply not_float = reply::error("ERR value is not a valid float");

bool read_score(const std::string& text, double& score) {
  char* end = nullptr;
  score = std::strtod(text.c_str(), &end);
  return !text.empty() && std::isspace(static_cast<unsigned char>(text[0])) == 0 &&
         end == text.c_str() + text.size() && !std::isnan(score);
}

// Whole numbers only: it is all that the scripts use.
std::string score_text(double score) {
  char text[64];
  std::snprintf(text, sizeof text, "%.17g", score == 0 ? 0 : score);  // never "-0"
  return text;
}

// A range of scores, with its ends; "(" is not used. An empty text counts as 0.
struct score_range {
  double least = 0;
  double most = 0;
  bool is_understood = false;
};

score_range read_range(const std::string& least, const std::string& most) {
  score_range range;
  range.is_understood = (least.empty() || read_score(least, range.least)) &&
                        (most.empty() || read_score(most, range.most));
  return range;
}

}  // namespace

reply simulated_redis::zadd(const arguments& command) {
  if (command.size() % 2 != 0) return syntax_error;  // the options are not used
  std::vector<double> scores(command.size() / 2 - 1);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!read_score(command[2 + 2 * i], scores[i])) return not_float;
  }
  auto* found = live(command[1]);
  if (is_wrong_type(found, entry::kind::sorted_set)) return wrong_type;
  if (found == nullptr) {
    found = &entries_[command[1]];
    found->type = entry::kind::sorted_set;
  }
  std::int64_t added = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (found->scores.insert_or_assign(command[3 + 2 * i], scores[i]).second) ++added;
  }
  return reply::number(added);
}

reply simulated_redis::zincrby(const arguments& command) {
  double by = 0;
  if (!read_score(command[2], by)) return not_float;
  auto* found = live(command[1]);
  if (is_wrong_type(found, entry::kind::sorted_set)) return wrong_type;
  if (found == nullptr) {
    found = &entries_[command[1]];
    found->type = entry::kind::sorted_set;
  }
  return reply::bulk(score_text(found->scores[command[3]] += by));
}

reply simulated_redis::zrem(const arguments& command) {
  auto* found = live(command[1]);
  if (is_wrong_type(found, entry::kind::sorted_set)) return wrong_type;
  if (found == nullptr) return reply::number(0);
  std::int64_t removed = 0;
  for (std::size_t i = 2; i < command.size(); ++i) {
    removed += static_cast<std::int64_t>(found->scores.erase(command[i]));
  }
  if (found->scores.empty()) entries_.erase(command[1]);
  return reply::number(removed);
}

reply simulated_redis::zscore(const arguments& command) {
  const auto* found = live(command[1]);
  if (is_wrong_type(found, entry::kind::sorted_set)) return wrong_type;
  if (found == nullptr) return reply::nil();
  const auto member = found->scores.find(command[2]);
  return member == found->scores.end() ? reply::nil() : reply::bulk(score_text(member->second));
}

reply simulated_redis::zcard(const arguments& command) {
  const auto* found = live(command[1]);
  if (is_wrong_type(found, entry::kind::sorted_set)) return wrong_type;
  return reply::number(found == nullptr ? 0 : static_cast<std::int64_t>(found->scores.size()));
}

reply simulated_redis::zcount(const arguments& command) {
  const auto range = read_range(command[2], command[3]);
  if (!range.is_understood) return reply::error("ERR min or max is not a float");
  const auto* found = live(command[1]);
  if (is_wrong_type(found, entry::kind::sorted_set)) return wrong_type;
  if (found == nullptr) return reply::number(0);
  return reply::number(std::count_if(
      found->scores.begin(), found->scores.end(),
      [&](const auto& item) { return item.second >= range.least && item.second <= range.most; }));
}

// ZRANGEBYSCORE and ZREVRANGEBYSCORE, with WITHSCORES and LIMIT.
reply simulated_redis::zrange(const arguments& command) {
  const bool is_reversed = command[0].size() > std::string_view("zrangebyscore").size();
  const auto range =
      is_reversed ? read_range(command[3], command[2]) : read_range(command[2], command[3]);
  if (!range.is_understood) return reply::error("ERR min or max is not a float");
  bool with_scores = false;
  std::size_t skipped = 0;
  std::size_t most = SIZE_MAX;
  for (std::size_t i = 4; i < command.size(); ++i) {
    if (is_word(command[i], "WITHSCORES")) {
      with_scores = true;
    } else if (is_word(command[i], "LIMIT") && i + 2 < command.size()) {
      skipped = std::strtoull(command[i + 1].c_str(), nullptr, 10);
      most = std::strtoull(command[i + 2].c_str(), nullptr, 10);
      i += 2;
    } else {
      return syntax_error;
    }
  }
  const auto* found = live(command[1]);
  if (is_wrong_type(found, entry::kind::sorted_set)) return wrong_type;
  std::vector<std::pair<double, std::string>> chosen;
  if (found != nullptr) {
    for (const auto& [member, score] : found->scores) {
      if (score >= range.least && score <= range.most) chosen.emplace_back(score, member);
    }
  }
  std::sort(chosen.begin(), chosen.end());
  if (is_reversed) std::reverse(chosen.begin(), chosen.end());
  std::vector<reply> items;
  for (std::size_t i = skipped; i < chosen.size() && i - skipped < most; ++i) {
    items.push_back(reply::bulk(chosen[i].second));
    if (with_scores) items.push_back(reply::bulk(score_text(chosen[i].first)));
  }
  return reply::list(std::move(items));
}

}  // namespace mortise::simulation
