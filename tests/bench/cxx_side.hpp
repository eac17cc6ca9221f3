// The C++ layer's side of a comparison with C. By itself, because the names of the public headers
// are those of the core, too, which other files of the benchmark know.
#pragma once

#include <mortise/mortise.h>

#include <memory>
#include <string>

namespace mortise::bench {

class cxx_side {
 public:
  cxx_side(const std::string& url, const std::string& name);
  cxx_side(const cxx_side&) = delete;
  cxx_side& operator=(const cxx_side&) = delete;
  ~cxx_side();

  // The client that both sides use.
  [[nodiscard]] mortise_client* client() const;
  // So many pairs, each by a hold, or by a std::unique_lock.
  void pairs(int count);
  void guards(int count);

 private:
  struct handles;
  std::unique_ptr<handles> handles_;
};

}  // namespace mortise::bench
