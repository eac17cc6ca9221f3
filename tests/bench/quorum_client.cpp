#include "quorum_client.hpp"

#include <poll.h>

#include <random>

#include "harness.hpp"

namespace mortise::bench {

namespace {

constexpr int pause_ms = 200;
constexpr int pause_jitter_ms = 100;
constexpr int patience_ms = 10'000;

bool is_yes(const redisReply& reply) {
  return reply.type == REDIS_REPLY_STATUS || (reply.type == REDIS_REPLY_INTEGER && reply.integer);
}

}  // namespace

struct quorum_client::link {
  explicit link(const std::string& path) : context(redisConnectUnix(path.c_str())) {
    require(context != nullptr && context->err == 0, "hiredis cannot connect to " + path);
  }
  ~link() { redisFree(context); }
  link(const link&) = delete;
  link& operator=(const link&) = delete;

  redisContext* context;
  int awaited = 0;  // replies; only the last of them counts
};

quorum_client::quorum_client(const std::vector<std::string>& urls) {
  for (const auto& url : urls) {
    compare_and_delete_ = reference(url).release_script();
    links_.push_back(std::make_unique<link>(address(url).path));
  }
}

quorum_client::~quorum_client() = default;

// True after the reply to the last request.
bool quorum_client::read_last(link& from, bool& is_vote) {
  require(redisBufferRead(from.context) == REDIS_OK, "a server closed hiredis's connection");
  while (from.awaited > 0) {
    void* reply = nullptr;
    require(redisGetReplyFromReader(from.context, &reply) == REDIS_OK, "no reply of a server's");
    if (reply == nullptr) return false;
    const reply_ptr kept(static_cast<redisReply*>(reply));
    require(kept->type != REDIS_REPLY_ERROR, kept->str == nullptr ? "" : kept->str);
    is_vote = is_yes(*kept);
    --from.awaited;
  }
  return true;
}

void quorum_client::send(const std::vector<std::string>& words) {
  std::vector<const char*> texts;
  std::vector<std::size_t> lengths;
  for (const auto& word : words) {
    texts.push_back(word.data());
    lengths.push_back(word.size());
  }
  for (const auto& server : links_) {
    redisAppendCommandArgv(server->context, static_cast<int>(words.size()), texts.data(),
                           lengths.data());
    int is_sent = 0;
    while (is_sent == 0) {
      require(redisBufferWrite(server->context, &is_sent) == REDIS_OK, "a server is gone");
    }
    ++server->awaited;
  }
}

bool quorum_client::ask(const std::vector<std::string>& words) {
  send(words);
  std::vector<pollfd> waits;
  for (const auto& server : links_) waits.push_back({server->context->fd, POLLIN, 0});
  const auto needed = links_.size() / 2 + 1;
  std::size_t yes = 0;
  std::size_t no = 0;
  while (yes < needed && no < needed) {
    require(::poll(waits.data(), waits.size(), patience_ms) > 0, "the servers do not answer");
    for (std::size_t i = 0; i < waits.size(); ++i) {
      bool is_vote = false;
      if (waits[i].revents == 0 || !read_last(*links_[i], is_vote)) continue;
      waits[i].fd = -1;
      ++(is_vote ? yes : no);
    }
  }
  return yes >= needed;
}

bool quorum_client::take(const plain_lock& lock) {
  return ask({"SET", lock.key, lock.token, "NX", "PX", "30000"});
}

bool quorum_client::release(const plain_lock& lock) {
  return ask({"EVALSHA", compare_and_delete_, "1", lock.key, lock.token});
}

void quorum_client::acquire(const plain_lock& lock) {
  static std::minstd_rand chance(std::random_device{}());
  std::uniform_int_distribution pauses(pause_ms - pause_jitter_ms, pause_ms + pause_jitter_ms);
  while (!take(lock)) {
    release(lock);
    sleep_ns(pauses(chance) * ns_per_second / 1000);
  }
}

}  // namespace mortise::bench
