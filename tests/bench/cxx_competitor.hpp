// The C++ layer's part of a comparison with C. It has a file of its own, because the names of the
// public headers collide with those of the core, which the other files of the benchmark include.
#pragma once

#include <mortise/mortise.h>

#include <memory>
#include <string>

namespace mortise::bench {

class cxx_competitor {
 public:
  cxx_competitor(const std::string& url, const std::string& name);
  cxx_competitor(const cxx_competitor&) = delete;
  cxx_competitor& operator=(const cxx_competitor&) = delete;
  ~cxx_competitor();

  // The client that both competitors use.
  [[nodiscard]] mortise_client* client() const;
  // So many pairs, each by a hold, or by a std::unique_lock.
  void pairs(int count);
  void guards(int count);

 private:
  struct handles;
  std::unique_ptr<handles> handles_;
};

}  // namespace mortise::bench
