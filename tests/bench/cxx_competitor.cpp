#include "cxx_competitor.hpp"

#include <mortise/mortise.hpp>
#include <mutex>

namespace mortise::bench {

struct cxx_competitor::handles {
  handles(const std::string& url, const std::string& name) : client(url), lock(client, name) {}

  mortise::client client;
  mortise::lock lock;
};

cxx_competitor::cxx_competitor(const std::string& url, const std::string& name)
    : handles_(std::make_unique<handles>(url, name)) {}

cxx_competitor::~cxx_competitor() = default;

mortise_client* cxx_competitor::client() const { return handles_->client.raw(); }

void cxx_competitor::pairs(int count) {
  for (int i = 0; i < count; ++i) {
    mortise::hold hold = handles_->lock.acquire();
    hold.unlock();
  }
}

void cxx_competitor::guards(int count) {
  for (int i = 0; i < count; ++i) {
    const std::unique_lock guard(handles_->lock);
  }
}

}  // namespace mortise::bench
