// The most that a server and a socket can do with the commands of the library: the same bytes,
// written without reading the replies, which are only counted. No lock can work like this.
#pragma once

#include <string>

#include "redis/resp/resp.hpp"

namespace mortise::bench {

class blind_pipeline {
 public:
  // Uses locks of its own. `depth` is how many acquires, or releases, are sent in one go.
  blind_pipeline(const std::string& url, int depth);
  ~blind_pipeline();
  blind_pipeline(const blind_pipeline&) = delete;
  blind_pipeline& operator=(const blind_pipeline&) = delete;

  // Acquires and releases each lock once; returns how many.
  int round();

 private:
  void exchange(const std::string& bytes, int replies);

  int depth_;
  int fd_ = -1;
  int acquire_replies_ = 0;
  std::string acquires_;
  std::string releases_;
  std::string input_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  redis::parser parser_;
};

}  // namespace mortise::bench
