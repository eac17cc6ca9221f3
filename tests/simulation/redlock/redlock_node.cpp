#include "simulation/redlock/redlock_node.hpp"

#include <utility>

#include "protocol/wire.hpp"
#include "redis/resp/resp.hpp"
#include "simulation/redlock/vote_trace.hpp"

namespace mortise::redlock_simulation {

using process_simulation::commands_of;
using process_simulation::describe;
using process_simulation::epoch_ns;

namespace {

class every_name final : public deployment::name_set {
 public:
  [[nodiscard]] bool has(const mortise::deployment::named_key& /*lock*/) const noexcept override {
    return true;
  }
};

}  // namespace

node::node(world& around, time_ns ahead_ns, std::int64_t drift_ppm)
    : clock(epoch_ns + ahead_ns, around.dice.between(-drift_ppm, drift_ppm)),
      redis([this, &around] { return clock.read(around.time.now()) / ns_per_us; }) {}

class connection::asking final : public mortise::deployment::lock_request {
 public:
  asking(connection& of, mortise::deployment::lock_requester& who) : of_(of), who_(who) {}
  ~asking() override {
    for (auto& item : of_.open_) {
      if (item.by == this) item.by = nullptr;
    }
  }
  status send(const lock::step_request& request, const protocol::table& rules,
              const protocol::key_set& keys, const lock::operation* /*by*/) noexcept override {
    ++sent_;
    return of_.send(*this, request, rules, keys);
  }
  // Once or twice: until the next request, a repeated reply belongs to the same request.
  void answer(const lock::step_result& result) {
    const std::weak_ptr<asking*> self = alive_;
    const bool is_repeated = of_.world_.dice.happens(of_.world_.repeat_per_mille);
    const auto question = sent_;
    who_.on_result(*this, result, boot_now());
    if (is_repeated && !self.expired() && question == sent_) {
      who_.on_result(*this, result, boot_now());
    }
  }

 private:
  const std::shared_ptr<asking*> alive_ = std::make_shared<asking*>(this);
  std::uint64_t sent_ = 0;
  connection& of_;
  mortise::deployment::lock_requester& who_;
};

connection::connection(world& around, node& to, mortise::deployment::listener& listener,
                       protocol::membership as, runner run, const drifting_clock& local)
    : world_(around),
      node_(to),
      listener_(listener),
      as_(std::move(as)),
      run_(std::move(run)),
      local_(local) {}

connection::~connection() = default;

outcome connection::begin() {
  connect();
  return {};
}

outcome connection::problem(const mortise::deployment::named_key& /*lock*/) const {
  return is_up_ ? outcome() : outcome::of(status::unreachable, "not connected");
}

std::unique_ptr<mortise::deployment::lock_request> connection::new_request(
    mortise::deployment::lock_requester& asker, const mortise::deployment::named_key& /*lock*/) {
  return std::make_unique<asking>(*this, asker);
}

// ---- there and back -------------------------------------------------------------------------

// A vote that a server gives again ends with the others (hazard 17).
void connection::check_top_up(const lock::step_request& sent) {
  auto& lapses = lapses_[std::string(sent.token)];
  const auto until = local_.read(world_.time.now()) + to_ns(sent.ttl_ms);
  if (sent.what != lock::step::reacquire) {
    lapses = std::max(lapses, until);
  } else if (until > lapses) {
    world_.violate("a top-up outlives the votes that it joins");
  }
}

status connection::send(asking& by, const lock::step_request& sent, const protocol::table& rules,
                        const protocol::key_set& keys) {
  if (!is_up_) return status::unreachable;
  check_top_up(sent);
  std::string bytes;
  protocol::write_step(bytes, rules, sent, keys);
  open_.push_back({&by, sent.what, &rules, &keys});
  if (world_.is_verbose) {
    world_.log(as_.client.id + " asks " + std::to_string(as_.number) + " step " +
               std::to_string(static_cast<int>(sent.what)) + " with " +
               std::to_string(sent.proposal));
  }
  world_.time.at(world_.delivery_time(to_node_),
                 [this, era = era_, process = node_.era, bytes] { receive(era, process, bytes); });
  return status::ok;
}

// Also after the client has continued, until it has reconnected. The old connection is killed then.
void connection::receive(std::uint64_t era, std::uint64_t process, const std::string& bytes) {
  if (process != node_.era || (era != era_ && is_up_)) return;
  if (world_.time.now() < node_.works_at) {
    world_.time.at(node_.works_at, [this, era, process, bytes] { receive(era, process, bytes); });
    return;
  }
  const auto words = commands_of(bytes).front();
  const auto answer = execute(words);
  std::string message;
  answer.write(message, 3);
  if (world_.is_verbose)
    world_.log(as_.client.id + " at " + std::to_string(as_.number) + describe(words, message));
  if (era != era_) return;
  world_.time.at(world_.delivery_time(to_client_),
                 [this, era, message] { run_([this, era, message] { deliver(era, message); }); });
}

void connection::deliver(std::uint64_t era, const std::string& bytes) {
  if (era != era_ || open_.empty()) return;
  redis::parser parser;
  if (parser.parse(bytes) != redis::parse_result::complete) return world_.violate("no reply");
  const auto answered = open_.front();
  open_.pop_front();
  if (answered.by == nullptr) return;
  answered.by->answer(
      protocol::read_step(*answered.rules, answered.what, parser.reply(), *answered.keys));
}

void connection::cut() {
  if (!is_up_) return;
  is_up_ = false;
  ++era_;
  if (session_ != nullptr) node_.redis.disconnect(*session_);
  session_ = nullptr;
  for (auto& broken : std::exchange(open_, {})) {
    if (broken.by == nullptr) continue;
    lock::step_result result;
    result.what = lock::answer::broken;
    broken.by->answer(result);
  }
  if (is_left_) return;
  world_.time.after((10 + world_.dice.spread(990)) * ns_per_ms,
                    [this] { run_([this] { connect(); }); });
}

void connection::leave() {
  is_left_ = true;
  is_up_ = false;
  if (session_ != nullptr) node_.redis.disconnect(*session_);
  session_ = nullptr;
}

void connection::connect() {
  if (is_up_ || is_left_) return;
  if (world_.time.now() < std::max(node_.up_at, node_.works_at)) {
    world_.time.after((10 + world_.dice.spread(990)) * ns_per_ms,
                      [this] { run_([this] { connect(); }); });
    return;
  }
  world_.time.after(world_.latency_ns * 2, [this] {
    run_([this] {
      if (!is_up_ && !is_left_) come_up();
    });
  });
}

std::string connection::call(const protocol::command& command) {
  std::string bytes, answer;
  command.write(bytes, true);
  execute(commands_of(bytes).front()).write(answer, 3);
  return answer;
}

simulation::reply connection::execute(const simulation::arguments& words) {
  if (world_.votes == nullptr) return node_.redis.call(words);
  return world_.votes->execute(static_cast<std::size_t>(as_.number), words);
}

void connection::come_up() {
  if (world_.time.now() < std::max(node_.up_at, node_.works_at)) return connect();
  for (const auto& text :
       {was_up_ ? protocol::seed_again(as_.client, seen_) : protocol::seed(as_.client),
        protocol::join_quorum(as_)}) {
    if (call(text).front() == '-') return world_.violate("a server refuses a client");
  }
  session_ = &node_.redis.connect();
  session_->protocol = 3;
  session_->send = [this, era = era_](const std::string& bytes) {
    world_.time.at(world_.delivery_time(to_client_), [this, era, bytes] {
      run_([this, era, bytes] {
        const auto words = commands_of(bytes).front();
        if (era == era_ && words.size() == 3) listener_.on_channel_message(words[1]);
      });
    });
  };
  is_up_ = was_up_ = true;
  for (const auto& channel : channels_) session_->channels.insert(channel);
  listener_.on_up(every_name(), boot_now());
  for (const auto& channel : std::set<std::string>(channels_)) listener_.on_listening(channel);
}

void connection::listen(const mortise::deployment::named_key& /*lock*/, std::string_view channel) {
  channels_.emplace(channel);
  if (!is_up_) return;
  session_->channels.emplace(channel);
  world_.time.after(world_.latency_ns * 2, [this, era = era_, name = std::string(channel)] {
    run_([this, era, name] {
      if (era == era_ && channels_.count(name) != 0) listener_.on_listening(name);
    });
  });
}

void connection::unlisten(const mortise::deployment::named_key& /*lock*/,
                          std::string_view channel) noexcept {
  channels_.erase(std::string(channel));
  if (session_ != nullptr) session_->channels.erase(std::string(channel));
}

}  // namespace mortise::redlock_simulation
