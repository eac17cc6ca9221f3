#include "deployment/redlock/quorum_round.hpp"

#include <utility>

namespace mortise::deployment {

quorum_round::quorum_round(const server_group& servers, quorum_round_listener& hears)
    : hears_(hears), ears_(servers.size()) {
  for (std::size_t server = 0; server < servers.size(); ++server) {
    ears_[server].round = this;
    ears_[server].server = server;
    requests_.push_back(servers.at(server).new_request(ears_[server]));
  }
}

std::optional<lock::step_result> quorum_round::begin(const lock::step_request& request,
                                                     const protocol::table& rules,
                                                     std::shared_ptr<const protocol::key_set> keys,
                                                     time_ns now, const quorum::server_set& targets,
                                                     const lock::operation* operation) {
  token_ = request.token;
  asked_ = request;
  asked_.token = token_;
  rules_ = &rules;
  keys_ = std::move(keys);
  sent_ = now;
  heard = 0;
  is_confirming = false;
  has_quorum = false;
  topped_up.reset();
  sent_to_.reset();
  votes_.emplace(request.what, requests_.size(), request.proposal);
  std::optional<lock::step_result> result;
  for (std::size_t server = 0; server < requests_.size(); ++server) {
    const auto sent = targets.test(server)
                          ? requests_[server]->send(asked_, rules, *keys_, operation)
                          : status::unreachable;
    sent_to_.set(server, sent == status::ok);
    if (sent == status::ok) continue;
    lock::step_result unsent;
    unsent.what = lock::answer::unsent;
    unsent.details = outcome::of(sent);
    if (auto decided = votes_->count(server, unsent)) result = std::move(decided);
  }
  return result;
}

bool quorum_round::send_text(std::size_t server) noexcept {
  auto again = asked_;
  again.with_text = true;
  return requests_[server]->send(again, *rules_, *keys_, nullptr) == status::ok;
}

}  // namespace mortise::deployment
