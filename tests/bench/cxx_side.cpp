#include "cxx_side.hpp"

#include <mortise/mortise.hpp>
#include <mutex>

namespace mortise::bench {

struct cxx_side::handles {
  handles(const std::string& url, const std::string& name) : client(url), lock(client, name) {}

  mortise::client client;
  mortise::lock lock;
};

cxx_side::cxx_side(const std::string& url, const std::string& name)
    : handles_(std::make_unique<handles>(url, name)) {}

cxx_side::~cxx_side() = default;

mortise_client* cxx_side::client() const { return handles_->client.raw(); }

void cxx_side::pairs(int count) {
  for (int i = 0; i < count; ++i) {
    mortise::hold hold = handles_->lock.acquire();
    hold.unlock();
  }
}

void cxx_side::guards(int count) {
  for (int i = 0; i < count; ++i) {
    const std::unique_lock guard(handles_->lock);
  }
}

}  // namespace mortise::bench
